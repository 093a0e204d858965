/** Writes of one row each. Whatever they do, those that arrive together share a statement. */
import type { Host } from '../host/host';
import type { ChargeRow, Settlement } from '../processor/ports';
import { GroupCommit } from './group-commit';
import { chargeRow, identityKey, type RecordRow, wholeText } from './rows';
import type { Statements } from './statements';

/** What a write does and needs, besides the row's identity, fence, attempt and intent. */
export type Operation =
  | { readonly op: 'freeze_payment_method'; readonly payment_method: string }
  | { readonly op: 'save_intent'; readonly payment_intent_id: string }
  | { readonly op: 'gate' }
  | { readonly op: 'release' }
  | { readonly op: 'drop_intent'; readonly idempotency_key: string }
  | { readonly op: 'next_attempt'; readonly idempotency_key: string | null }
  | {
      readonly op: 'settle';
      readonly status: Settlement['status'];
      readonly charge_id: string | null;
      readonly error: string | null;
      readonly decline_code: string | null;
      readonly closed: boolean;
    };

/** Whether the row was as expected, and the row as it is then after a dropped intent or another attempt. */
export interface Written {
  readonly done: boolean;
  readonly row?: ChargeRow;
}

interface Write {
  readonly row: ChargeRow;
  readonly operation: Operation;
}

export class RowWrites {
  private readonly writes: GroupCommit<Write, Written>;

  constructor(
    private readonly statements: Statements,
    host: Host,
  ) {
    this.writes = new GroupCommit({
      host,
      identity: ({ row }) => identityKey(row),
      run: (writes) => this.send(writes),
    });
  }

  async write(row: ChargeRow, operation: Operation): Promise<Written> {
    const [written] = await this.writes.submit([{ row, operation }]);
    return written ?? { done: false };
  }

  private async send(writes: readonly Write[]): Promise<Written[]> {
    const input = writes.map(({ row, operation }, index) => ({
      ord: index,
      customer_id: row.customerId,
      billing_period: row.billingPeriod,
      fence: String(row.fence),
      attempt: row.attempt,
      payment_intent_id: row.paymentIntentId,
      ...operation,
    }));
    const rows = await this.statements.run<{ ord: number; record: RecordRow | null }>('write', [JSON.stringify(input)]);
    const answers = new Map(rows.map((row) => [row.ord, row.record]));
    return writes.map((_, index) => {
      const record = answers.get(index);
      return { done: record !== undefined, ...(record ? { row: chargeRow(record) } : {}) };
    });
  }
}

export function settlementOperation(settlement: Settlement): Operation {
  const { status, chargeId, error, declineCode, closed } = settlement;
  return {
    op: 'settle',
    status,
    charge_id: chargeId ?? null,
    error: error === undefined ? null : wholeText(error),
    decline_code: declineCode === undefined ? null : wholeText(declineCode),
    closed: closed ?? false,
  };
}
