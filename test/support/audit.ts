/** Compares rows, caps and the emulator's books after a scenario: what the model's invariants say, in words. */
import type { BillingWorld } from './billing-world';

interface AuditedRow {
  readonly customer_id: string;
  readonly status: string;
  readonly payment_intent_id: string | null;
  readonly reserved: boolean;
  readonly amount: number;
}

/** Statuses under which the intent of a row can still succeed. */
const OPEN = ['pending', 'processing', 'action_required', 'card_declined', 'rejected'];

/** Empty when everything agrees. */
export async function audit(world: BillingWorld): Promise<string[]> {
  const rows = await world.db.query<AuditedRow>(
    `SELECT customer_id, status, payment_intent_id, reserved, amount_cents::integer AS amount
     FROM billing_records ORDER BY customer_id`,
  );
  const problems = rows.flatMap((row) => auditRow(world, row));
  for (const charge of world.emulator.books.charges) {
    const customer = charge.customer?.replace('cus_', '');
    if (!rows.some((row) => row.customer_id === customer)) problems.push(`${customer}: charged without a row`);
  }
  return [...problems, ...(await auditCap(world, rows))];
}

function auditRow(world: BillingWorld, row: AuditedRow): string[] {
  const { customer_id: customer, status } = row;
  const problems: string[] = [];
  const charges = world.emulator.books.chargesOf(`cus_${customer}`);
  const intent = world.emulator.intents().find(({ id }) => id === row.payment_intent_id);
  if (charges.length > 1) problems.push(`${customer}: charged ${charges.length} times`);
  if (charges.length > 0 && status !== 'charged') problems.push(`${customer}: charged, but the row says ${status}`);
  if (status === 'charged' && intent?.status !== 'succeeded') {
    problems.push(`${customer}: the row says charged, its intent is ${intent?.status}`);
  }
  if (['card_declined', 'rejected'].includes(status) && intent?.status === 'processing') {
    problems.push(`${customer}: the row says ${status}, its intent is processing`);
  }
  for (const charge of charges) {
    if (charge.amount !== row.amount) problems.push(`${customer}: charged ${charge.amount} instead of ${row.amount}`);
  }
  const mayMove = OPEN.includes(status) && (status === 'pending' || (intent && intent.status !== 'canceled'));
  if (mayMove && !row.reserved) problems.push(`${customer}: its hold is gone while money may move`);
  return problems;
}

async function auditCap(world: BillingWorld, rows: readonly AuditedRow[]): Promise<string[]> {
  const sum = (chosen: readonly AuditedRow[]) => chosen.reduce((total, row) => total + row.amount, 0);
  const reserved = sum(rows.filter((row) => row.reserved));
  const spent = sum(rows.filter((row) => row.status === 'charged'));
  const cap = await world.cap();
  const problems: string[] = [];
  if (cap.reserved !== reserved) problems.push(`the cap holds ${cap.reserved}, its rows ${reserved}`);
  if (cap.spent !== spent) problems.push(`the cap has spent ${cap.spent}, its rows ${spent}`);
  const [limit] = await world.db.query<{ cents: string | null }>('SELECT limit_cents AS cents FROM spend_caps');
  const moved = world.emulator.books.charges.reduce((total, charge) => total + charge.amount, 0);
  if (limit?.cents && moved > Number(limit.cents)) problems.push(`${moved} were charged of a cap of ${limit.cents}`);
  return problems;
}
