/** Rows that are not finished, as a table for people. */
import type { OpenRow, OpenRows } from '../ledger';
import type { Reconciled } from '../reconcile';

const HEADS = ['customer', 'period', 'amount', 'status', 'open for', 'intent', 'now'] as const;
/** Identities come from outside: nothing in them may move the cursor or break the line. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

export function openRowsTable({ total, rows }: OpenRows): string {
  if (total === 0) return 'Every row is finished.\n';
  const lines = [HEADS, ...rows.map(cells)];
  const widths = HEADS.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const table = lines.map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  const more = total - rows.length;
  return [
    `${total} ${total === 1 ? 'row is' : 'rows are'} not finished.`,
    '',
    ...table,
    ...(more > 0 ? [`and ${more} more (--limit)`] : []),
    '',
    'Workers move these on by themselves; --apply does it now, for those that nobody works on.',
    '',
  ].join('\n');
}

function cells(row: OpenRow): string[] {
  const why = row.declineCode ?? row.error;
  return [
    printable(row.customerId),
    printable(row.billingPeriod),
    `${row.amountCents} ${row.currency}`,
    why === null ? row.status : `${row.status} (${printable(why).slice(0, 60)})`,
    duration(row.ageMs),
    row.paymentIntentId === null ? 'none' : `${row.paymentIntentId}${row.confirmStarted ? '' : ', not confirmed'}`,
    row.claimedBy === null ? 'nobody works on it' : `claimed by ${printable(row.claimedBy)}`,
  ];
}

const printable = (text: string): string => text.replace(UNPRINTABLE, '\uFFFD');

function duration(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return `${Math.floor(ms / 1_000)} s`;
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

export function reconciledWords({ taken, ended, open }: Reconciled): string {
  const still = open.total === 0 ? '' : `\n${openRowsTable(open)}`;
  return `Taken ${taken}, ended ${ended}.\n${still}`;
}
