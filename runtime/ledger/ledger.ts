/** The ledger: one row for each (customer, billing period), and what may be done to it. */
import type {
  BillingEvent,
  ChargeRow,
  ClaimAnswer,
  ClaimRequest,
  DeadLetter,
  LedgerPort,
  LookAnswer,
  Settlement,
} from '../processor/ports';
import { type AccountIdentity, bindAccount, checkSchema } from './binding';
import {
  type ClaimRow,
  claimAnswer,
  claimValues,
  type LookRow,
  lookAnswer,
  type SpendCapOptions,
  withoutRepeats,
} from './claims';
import { deadLetterBatches, deadLetterColumns } from './dead-letters';
import { GroupCommit } from './group-commit';
import { type OpenRecord, type OpenRows, openRows } from './open-rows';
import { chargeRow, chunks, identityKey, type RecordRow } from './rows';
import { type StatementOptions, Statements } from './statements';
import { RowWrites, settlementOperation } from './writes';

export interface LedgerOptions extends StatementOptions {
  /** Who claims, for people; a claim is told apart from others by a token of its own. */
  readonly worker: string;
  /** How long a claim lasts by the database's clock, in milliseconds. */
  readonly claimTtlMs: number;
  readonly spendCap: SpendCapOptions;
  /**
   * How long a pending row's claim must have been over before `claimDue` takes the row, in milliseconds. Within this time
   * it is left to the delivery that is read again. Default: 0.
   */
  readonly overdueAfterMs?: number;
  /** Shortest time between two looks at a charge that Stripe accepted, in milliseconds. Default: 60000. */
  readonly recheckAfterMs?: number;
  /** Age of a decline at which it is read once more and closed, in milliseconds. Default: 900000. */
  readonly closingReadAfterMs?: number;
}

/** Rows that wait, by why. */
export interface LedgerCounts {
  readonly pending: number;
  /** Pending rows whose claim has expired: the reconciler's work. */
  readonly expired: number;
  /** Pending rows, claimed or not, whose outcome has been open for too long. */
  readonly unresolved: number;
  /** Rows in `processing` or `action_required`. */
  readonly waiting: number;
}

export interface Ledger extends LedgerPort {
  /** Resolves when the database answers. */
  ping(): Promise<void>;
  /** Answers what names this ledger in Stripe's metadata. Rejects with SchemaTooOld or SchemaTooNew. */
  checkSchema(): Promise<{ readonly ledgerId: string }>;
  /**
   * Checks the schema, then binds an empty ledger to the mode and account, or rejects with AccountMismatch. Without
   * `accountId` (the key may not read it) the mode alone is checked.
   */
  bindAccount(account: AccountIdentity): Promise<void>;
  /** `unresolvedAfterMs`: age from which a pending row counts as unresolved. Default: 300000. */
  counts(unresolvedAfterMs?: number): Promise<LedgerCounts>;
  /** The oldest rows that are not finished, at most `limit`, and how many there are. Changes nothing. */
  openRows(limit: number): Promise<OpenRows>;
  /** Waits for statements in flight and closes the connections. */
  close(): Promise<void>;
}

/** Opens no connection yet; the first statement does. Every method may reject with LedgerUnavailable. */
export function openLedger(options: LedgerOptions): Ledger {
  return new PostgresLedger(options, new Statements(options));
}

const LOOK_BATCH = 1_000;
const CLAIM_BATCH = 500;

class PostgresLedger implements Ledger {
  private readonly claims: GroupCommit<ClaimRequest, ClaimAnswer>;
  private readonly writes: RowWrites;

  constructor(
    private readonly options: LedgerOptions,
    private readonly statements: Statements,
  ) {
    const { host } = options;
    this.claims = new GroupCommit({
      host,
      run: (requests) => this.claimBatch(requests),
      identity: (request) => identityKey(request.event),
      maxBatch: CLAIM_BATCH,
    });
    this.writes = new RowWrites(statements, host);
  }

  async look(events: readonly BillingEvent[]): Promise<LookAnswer[]> {
    const answers: LookAnswer[] = [];
    for (const chunk of chunks(events, LOOK_BATCH)) {
      const rows = await this.statements.run<LookRow>('look', [
        chunk.map((event) => event.customerId),
        chunk.map((event) => event.billingPeriod),
        chunk.map((event) => event.amountCents),
        chunk.map((event) => event.currency),
      ]);
      answers.push(...rows.map(lookAnswer));
    }
    return answers;
  }

  async claim(requests: readonly ClaimRequest[]): Promise<ClaimAnswer[]> {
    const { distinct, answers } = withoutRepeats(requests);
    const given: ClaimAnswer[] = [];
    for (const chunk of chunks(distinct, CLAIM_BATCH)) given.push(...(await this.claims.submit(chunk)));
    return answers(given);
  }

  private async claimBatch(requests: readonly ClaimRequest[]): Promise<ClaimAnswer[]> {
    const { claimTtlMs, spendCap } = this.options;
    const values = claimValues(this.claimToken(), claimTtlMs, spendCap, requests);
    const rows = await this.statements.run<ClaimRow & { ord: number }>('claim', values);
    const byInput = new Map(rows.map((row) => [row.ord, row]));
    return requests.map((request, index) => {
      const row = byInput.get(index + 1);
      if (row) return claimAnswer(row);
      throw new Error(`The ledger gave no answer to the claim of ${identityKey(request.event)}`);
    });
  }

  /** Names one call, so that its repeat after a lost answer recognises its own rows. */
  private claimToken(): string {
    return `${this.options.worker}/${this.options.host.uuid()}`;
  }

  async claimDue(limit: number): Promise<ChargeRow[]> {
    const { claimTtlMs, overdueAfterMs = 0, recheckAfterMs = 60_000, closingReadAfterMs = 900_000 } = this.options;
    const values = [this.claimToken(), claimTtlMs, limit, overdueAfterMs, recheckAfterMs, closingReadAfterMs];
    return (await this.statements.run<RecordRow>('claimDue', values)).map(chargeRow);
  }

  async freezePaymentMethod(row: ChargeRow, paymentMethod: string): Promise<boolean> {
    return (await this.writes.write(row, { op: 'freeze_payment_method', payment_method: paymentMethod })).done;
  }

  async saveIntent(row: ChargeRow, paymentIntentId: string): Promise<boolean> {
    return (await this.writes.write(row, { op: 'save_intent', payment_intent_id: paymentIntentId })).done;
  }

  async gate(row: ChargeRow): Promise<boolean> {
    return (await this.writes.write(row, { op: 'gate' })).done;
  }

  async settle(row: ChargeRow, settlement: Settlement): Promise<boolean> {
    return (await this.writes.write(row, settlementOperation(settlement))).done;
  }

  async dropIntent(row: ChargeRow, newIdempotencyKey: string): Promise<ChargeRow | undefined> {
    return (await this.writes.write(row, { op: 'drop_intent', idempotency_key: newIdempotencyKey })).row;
  }

  async nextAttempt(row: ChargeRow, newIdempotencyKey?: string): Promise<ChargeRow | undefined> {
    return (await this.writes.write(row, { op: 'next_attempt', idempotency_key: newIdempotencyKey ?? null })).row;
  }

  async release(row: ChargeRow): Promise<void> {
    await this.writes.write(row, { op: 'release' });
  }

  async deadLetter(letters: readonly DeadLetter[]): Promise<void> {
    for (const batch of deadLetterBatches(letters)) {
      await this.statements.run('deadLetter', deadLetterColumns(batch));
    }
  }

  async ping(): Promise<void> {
    await this.statements.run('ping', []);
  }

  async checkSchema(): Promise<{ ledgerId: string }> {
    return { ledgerId: (await checkSchema(this.statements)).ledger_id };
  }

  bindAccount(account: AccountIdentity): Promise<void> {
    return bindAccount(this.statements, account);
  }

  async counts(unresolvedAfterMs = 300_000): Promise<LedgerCounts> {
    const [row] = await this.statements.run<Record<keyof LedgerCounts, string>>('counts', [unresolvedAfterMs]);
    return {
      pending: Number(row?.pending),
      expired: Number(row?.expired),
      unresolved: Number(row?.unresolved),
      waiting: Number(row?.waiting),
    };
  }

  async openRows(limit: number): Promise<OpenRows> {
    return openRows(await this.statements.run<OpenRecord>('listOpen', [limit]));
  }

  close(): Promise<void> {
    return this.statements.close();
  }
}
