/**
 * Judges a run from outside: what was published, against the ledger's tables and Stripe's own books.
 * It reads nothing that the runtime counts.
 */
import type { Client } from 'pg';

export type Decode = (
  body: Uint8Array,
) => { readonly ok: true; readonly event: DecodedEvent } | { readonly ok: false; readonly reason: string };

/** The same decoder, which reads each body once: a run is judged several times a second. */
export function remembering(decode: Decode): Decode {
  const known = new WeakMap<Uint8Array, ReturnType<Decode>>();
  return (body) => {
    const result = known.get(body) ?? decode(body);
    known.set(body, result);
    return result;
  };
}

export interface DecodedEvent {
  readonly customerId: string;
  readonly billingPeriod: string;
  readonly amountCents: number;
  readonly currency: string;
}

/** One movement of money in the emulator's books. */
export interface Movement {
  readonly paymentIntentId: string;
  readonly chargeId: string;
  readonly amount: number;
  readonly currency: string;
}

export interface LedgerView {
  readonly records: readonly LedgerRecord[];
  readonly deadLetters: readonly { readonly body: Buffer }[];
  readonly conflicts: readonly DecodedEvent[];
}

export interface LedgerRecord extends DecodedEvent {
  readonly status: string;
  readonly paymentIntentId: string | null;
  readonly chargeId: string | null;
}

export interface Counts {
  readonly published: number;
  readonly valid: number;
  readonly distinct: number;
  readonly charged: number;
  readonly declined: number;
  readonly actionRequired: number;
  readonly processing: number;
  readonly capBlocked: number;
  readonly rejected: number;
  readonly zeroAmount: number;
  readonly pending: number;
  readonly deadLettered: number;
  readonly conflicts: number;
  readonly doubleCharged: number;
  readonly lost: number;
}

export interface Judgement {
  readonly counts: Counts;
  readonly problems: readonly string[];
}

export async function readLedger(client: Client): Promise<LedgerView> {
  const identity = `customer_id AS "customerId", billing_period AS "billingPeriod",
    amount_cents::float8 AS "amountCents", currency`;
  const records = await client.query(
    `SELECT ${identity}, status, payment_intent_id AS "paymentIntentId", charge_id AS "chargeId" FROM billing_records`,
  );
  const conflicts = await client.query(`SELECT ${identity} FROM billing_conflicts`);
  const deadLetters = await client.query('SELECT body FROM dead_letters');
  return { records: records.rows, conflicts: conflicts.rows, deadLetters: deadLetters.rows };
}

export function judge(
  published: readonly Uint8Array[],
  ledger: LedgerView,
  books: readonly Movement[],
  decode: Decode,
): Judgement {
  const decoded = published.map((body) => ({ body, result: decode(body) }));
  const valid = decoded.flatMap(({ result }) => (result.ok ? [result.event] : []));
  const byIdentity = new Map(ledger.records.map((record) => [identityOf(record), record]));
  const conflicts = new Set(ledger.conflicts.map((conflict) => `${identityOf(conflict)} ${priceOf(conflict)}`));
  const deadBodies = new Set(ledger.deadLetters.map(({ body }) => body.toString('base64')));
  const problems: string[] = [];
  let lost = 0;
  for (const { body, result } of decoded) {
    if (result.ok ? accountedFor(result.event, byIdentity, conflicts) : deadBodies.has(base64(body))) continue;
    lost++;
    if (lost <= 5) problems.push(`Lost: ${Buffer.from(body).toString('utf8').slice(0, 200)}`);
  }
  const double = doubleCharges(ledger.records, books, problems);
  const status = (name: string) => ledger.records.filter((record) => record.status === name).length;
  const counts: Counts = {
    published: published.length,
    valid: valid.length,
    distinct: new Set(valid.map(identityOf)).size,
    charged: status('charged'),
    declined: status('card_declined'),
    actionRequired: status('action_required'),
    processing: status('processing'),
    capBlocked: status('cap_blocked'),
    rejected: status('rejected'),
    zeroAmount: status('zero_amount'),
    pending: status('pending'),
    deadLettered: ledger.deadLetters.length,
    conflicts: ledger.conflicts.length,
    doubleCharged: double,
    lost,
  };
  if (counts.lost === 0 && counts.deadLettered !== counts.published - counts.valid) {
    problems.push(
      `${counts.published - counts.valid} lines are no events, but there are ${counts.deadLettered} dead letters.`,
    );
  }
  if (counts.pending > 0) problems.push(`${counts.pending} rows are still pending.`);
  if (counts.distinct !== ledger.records.length) {
    problems.push(`${counts.distinct} identities were published, but the ledger has ${ledger.records.length} rows.`);
  }
  return { counts, problems };
}

function accountedFor(event: DecodedEvent, records: Map<string, LedgerRecord>, conflicts: Set<string>): boolean {
  const record = records.get(identityOf(event));
  if (record === undefined) return false;
  return priceOf(record) === priceOf(event) || conflicts.has(`${identityOf(event)} ${priceOf(event)}`);
}

/**
 * From Stripe's books: every movement belongs to a row that says `charged` with that intent and amount, and no
 * identity has two. Answers how many movements are too many.
 */
function doubleCharges(records: readonly LedgerRecord[], books: readonly Movement[], problems: string[]): number {
  const byIntent = new Map<string, LedgerRecord>();
  for (const record of records) if (record.paymentIntentId) byIntent.set(record.paymentIntentId, record);
  const paid = new Set<string>();
  let double = 0;
  for (const movement of books) {
    const record = byIntent.get(movement.paymentIntentId);
    if (record === undefined || paid.has(identityOf(record))) {
      double++;
      problems.push(`Charged too often or for nobody: ${movement.chargeId} of ${movement.paymentIntentId}.`);
      continue;
    }
    paid.add(identityOf(record));
    if (record.status !== 'charged') problems.push(`${movement.chargeId} moved money, the row says ${record.status}.`);
    if (record.amountCents !== movement.amount || record.currency !== movement.currency) {
      problems.push(`${movement.chargeId} moved ${movement.amount} ${movement.currency}, the row says otherwise.`);
    }
  }
  for (const record of records) {
    if (record.status === 'charged' && !paid.has(identityOf(record))) {
      problems.push(`${identityOf(record)} says charged, but no money moved.`);
    }
  }
  return double;
}

function identityOf(event: { customerId: string; billingPeriod: string }): string {
  return JSON.stringify([event.customerId, event.billingPeriod]);
}

function priceOf(event: { amountCents: number; currency: string }): string {
  return `${event.amountCents} ${event.currency}`;
}

function base64(body: Uint8Array): string {
  return Buffer.from(body).toString('base64');
}
