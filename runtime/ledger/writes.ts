/** Writes of one row each; calls that arrive together share a statement. */
import type { Host } from '../host/host';
import type { ChargeRow } from '../processor/ports';
import { rowsByInput } from './claims';
import { GroupCommit } from './group-commit';
import { identityKey, type RecordRow } from './rows';
import type { QueryName, Statements } from './statements';

export interface Write {
  readonly row: ChargeRow;
  /** Values of the statement's columns after customer, period, fence and attempt. */
  readonly values: readonly unknown[];
}

/** Statements whose arrays are customer, period, fence, attempt and then the write's own values. */
type WriteName = Extract<
  QueryName,
  'freezePaymentMethod' | 'saveIntent' | 'gate' | 'settle' | 'dropIntent' | 'nextAttempt' | 'release'
>;

function columns(writes: readonly Write[]): unknown[] {
  const own = writes[0]?.values ?? [];
  return [
    writes.map(({ row }) => row.customerId),
    writes.map(({ row }) => row.billingPeriod),
    writes.map(({ row }) => String(row.fence)),
    writes.map(({ row }) => row.attempt),
    ...own.map((_, index) => writes.map(({ values }) => values[index] ?? null)),
  ];
}

/** Answers for each write whether the row was there as it was expected. */
export function confirmedWrites(statements: Statements, host: Host, name: WriteName): GroupCommit<Write, boolean> {
  return new GroupCommit({
    host,
    identity: ({ row }) => identityKey(row),
    async run(writes) {
      const rows = await statements.run<{ ord: number }>(name, columns(writes));
      const done = new Set(rows.map((row) => row.ord));
      return writes.map((_, index) => done.has(index + 1));
    },
  });
}

/** Answers for each write the row as it is then, or nothing when it was not as expected. */
export function rowWrites(
  statements: Statements,
  host: Host,
  name: WriteName,
): GroupCommit<Write, ChargeRow | undefined> {
  return new GroupCommit({
    host,
    identity: ({ row }) => identityKey(row),
    async run(writes) {
      return rowsByInput(await statements.run<RecordRow & { ord: number }>(name, columns(writes)), writes.length);
    },
  });
}
