/** What the cells of the table have in common: one event through a real processor, and what is true at the end. */
import { expect } from 'vitest';
import type { Faults, FaultTarget } from '../../emulators/stripe';
import { API_KEY, type BillingWorld, type RowNow, type Worker } from '../../support/billing-world';

/** Requests of the intents in order: `POST create`, `POST confirm`, `GET retrieve`, `GET list`. */
export function requestsOf(world: BillingWorld): string[] {
  return world.emulator.requests
    .filter((request) => request.operation.startsWith('payment_intents.'))
    .map((request) => request.operation.replace('payment_intents.', ''));
}

export function keysOf(world: BillingWorld, operation: 'create' | 'confirm'): (string | undefined)[] {
  return world.emulator.requests
    .filter((request) => request.operation === `payment_intents.${operation}`)
    .map((request) => request.idempotencyKey);
}

/** A held or spent amount is in the cap exactly when the row says so. */
export async function expectCapAgrees(world: BillingWorld, row: RowNow, amount = 1_200): Promise<void> {
  expect(await world.cap()).toEqual({
    reserved: row.reserved ? amount : 0,
    spent: row.status === 'charged' ? amount : 0,
  });
}

/** The row as it must be after the first answer, with its cap. */
export async function expectRow(world: BillingWorld, customer: string, expected: Partial<RowNow>): Promise<RowNow> {
  const row = await world.row(customer);
  expect(row).toMatchObject(expected);
  await expectCapAgrees(world, row);
  return row;
}

/** Pending, with its hold and with whatever it named before: nothing was concluded. */
export async function expectUnknown(world: BillingWorld, customer: string): Promise<void> {
  await expectRow(world, customer, { status: 'pending', reserved: true });
}

/** Claims end, the reconciler goes round until nothing is pending; then row and books agree, with one charge. */
export async function expectEndsCharged(world: BillingWorld, worker: Worker, customer: string): Promise<RowNow> {
  world.emulator.faults.clear();
  for (let round = 0; round < 5 && (await world.row(customer)).status !== 'charged'; round++) {
    await world.makeDue();
    await worker.reconcile();
  }
  return expectCharged(world, customer);
}

/** Charged once, booked as its own intent, the hold spent. */
export async function expectCharged(world: BillingWorld, customer: string): Promise<RowNow> {
  const row = await expectRow(world, customer, { status: 'charged', reserved: false, claimed: false });
  const [charge, ...more] = world.emulator.books.chargesOf(`cus_${customer}`);
  expect(more).toEqual([]);
  expect(row).toMatchObject({ payment_intent_id: charge?.paymentIntentId, charge_id: charge?.chargeId });
  expect(world.emulator.books.doubleCharged()).toEqual([]);
  return row;
}

export type What = Parameters<Faults['add']>[0]['what'];
export const fault = (world: BillingWorld, target: FaultTarget & { what: What }) => world.emulator.faults.add(target);

/** A request of somebody else: an old copy of ours, or the customer in person. */
export async function post(
  world: BillingWorld,
  path: string,
  form: Record<string, string>,
  key = '',
): Promise<Response> {
  return fetch(`${world.emulator.url}/v1/payment_intents${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${API_KEY}`,
      'content-type': 'application/x-www-form-urlencoded',
      'stripe-version': '2026-10-28.endive',
      ...(key !== '' && { 'idempotency-key': key }),
    },
    body: new URLSearchParams(form),
  });
}
