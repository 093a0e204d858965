/**
 * A decline is stored under its key for a day: sent again with that key it declines for ever, whatever card the customer
 * has given since. Attempt 2 confirms the same intent under a key of its own. A timeout is no decline: it never raises
 * the attempt.
 */
import { beforeEach, describe, expect, it } from 'vitest';
import { audit } from '../support/audit';
import { type BillingWorld, useBillingWorld } from '../support/billing-world';

const open = useBillingWorld();
let world: BillingWorld;
beforeEach(() => {
  world = open();
});

const BROKE = 'pm_card_chargeDeclinedInsufficientFunds';
/** What an operator's retry does to a declined row: same intent, fence and attempt raised, the new method frozen. */
const retry = (method: string, attempt = 'attempt + 1') => `UPDATE billing_records SET status = 'pending',
  fence = fence + 1, attempt = ${attempt}, payment_method = '${method}', settled_at = NULL,
  claim_expires_at = now() - interval '1 ms' WHERE status = 'card_declined' AND reserved`;
const confirms = () => world.emulator.requests.filter((request) => request.operation === 'payment_intents.confirm');

async function declinedRow(): Promise<void> {
  await world.worker().deliver(world.customer('a', 'pm_card_visa', { payment_method: BROKE }));
  expect(await world.row('a')).toMatchObject({ status: 'card_declined', decline_code: 'insufficient_funds' });
}

describe('a declined customer who gives a good card', () => {
  it('is charged by attempt 2 on the same intent, with the new method', async () => {
    await declinedRow();
    await world.db.query(retry('pm_card_visa'));
    await world.worker().reconcile();
    expect(await world.row('a')).toMatchObject({ status: 'charged', attempt: 2 });
    expect(world.emulator.intents()).toHaveLength(1);
    expect(confirms().map((request) => request.idempotencyKey?.slice(-10))).toEqual(['-confirm-1', '-confirm-2']);
    expect(confirms()[1]?.rawBody.toString()).toContain('payment_method=pm_card_visa');
    expect(await audit(world)).toEqual([]);
  });

  it('who gives a bad one again is declined again, and keeps the way open', async () => {
    await declinedRow();
    await world.db.query(retry('pm_card_chargeDeclinedLostCard'));
    await world.worker().reconcile();
    expect(await world.row('a')).toMatchObject({ status: 'card_declined', decline_code: 'lost_card', attempt: 2 });
    await world.db.query(retry('pm_card_visa'));
    await world.worker().reconcile();
    expect(await world.row('a')).toMatchObject({ status: 'charged', attempt: 3 });
    expect(world.emulator.intents()).toHaveLength(1);
    expect(await audit(world)).toEqual([]);
  });

  it('twin: under the key of attempt 1 the same card is declined from memory, though it is good by now', async () => {
    await declinedRow();
    await world.db.query(retry(BROKE, 'attempt'));
    await world.worker().reconcile();
    expect(confirms().at(-1)).toMatchObject({ replayed: true, status: 402 });
    expect(await world.row('a')).toMatchObject({ status: 'card_declined', attempt: 1 });
  });
});

describe('a timeout', () => {
  it('never raises the attempt, however often it comes', async () => {
    const event = world.customer('a');
    world.emulator.faults.add({ on: 'confirm', when: 'before-execute', what: 'drop', times: 999 });
    for (let round = 0; round < 3; round++) {
      await world.worker().deliver(event);
      expect(await world.row('a')).toMatchObject({ status: 'pending', attempt: 1, reserved: true });
      await world.expireClaims();
    }
    world.emulator.faults.clear();
    await world.worker().reconcile();
    expect(await world.row('a')).toMatchObject({ status: 'charged', attempt: 1 });
    expect(new Set(confirms().map((request) => request.idempotencyKey)).size).toBe(1);
    expect(world.emulator.intents()).toHaveLength(1);
    expect(await audit(world)).toEqual([]);
  });
});
