/**
 * 409 idempotency_key_in_use: our own first request still runs. The claim is kept, the key stays the same, and one
 * charge remains. Public consumers took it for a failure, gave the event back and charged under a new key.
 */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Decide } from '../../runtime/processor/decide';
import { decide } from '../../runtime/processor/decide';
import { audit } from '../support/audit';
import { type BillingWorld, useBillingWorld, type Worker } from '../support/billing-world';
import { until } from '../support/until';

const open = useBillingWorld();
let world: BillingWorld;
beforeEach(() => {
  world = open();
});

/** The step's first request is executed slowly; the client gives up on it and sends it again. */
async function slowFirst(step: 'create' | 'confirm', worker: Worker): Promise<void> {
  const hold = world.emulator.faults.hold({ on: step, when: 'before-execute' });
  const outcome = worker.charge('a');
  await hold.reached;
  const refused = () => world.emulator.requests.some((request) => request.status === 409);
  await until('the resend is answered 409', refused);
  expect(await world.row('a')).toMatchObject({ status: 'pending', claimed: true, fence: '1', attempt: 1 });
  hold.release();
  await outcome;
}

describe.each(['create', 'confirm'] as const)('409 on a %s whose first request still runs', (step) => {
  it('keeps the claim and the key, and ends in one charge', async () => {
    world.customer('a');
    await slowFirst(step, world.worker({ stripeTimeoutMs: 200 }));
    // Whatever the worker made of it in time, the next round finishes.
    await world.makeDue();
    await world.worker().reconcile();
    expect(await world.row('a')).toMatchObject({ status: 'charged', attempt: 1 });
    expect(world.emulator.intents()).toHaveLength(1);
    const keys = world.emulator.requests.filter((r) => r.operation === `payment_intents.${step}`);
    expect(new Set(keys.map((request) => request.idempotencyKey)).size).toBe(1);
    expect(await audit(world)).toEqual([]);
  });
});

it('twin: a consumer that takes a 409 for a failure and begins anew charges twice', async () => {
  world.customer('a');
  const beginsAnew: Decide = (row, phase, answer) =>
    phase.step === 'confirm' && answer.kind === 'busy'
      ? { write: { kind: 'drop_intent' }, next: { do: 'create', backoff: false } }
      : decide(row, phase, answer);
  const hold = world.emulator.faults.hold({
    on: 'confirm',
    when: 'before-execute',
    match: ({ idempotencyKey }) => idempotencyKey?.endsWith('-confirm-1') ?? false,
  });
  const outcome = world.worker({ stripeTimeoutMs: 200, decide: beginsAnew }).charge('a');
  await hold.reached;
  await outcome;
  hold.release();
  await until('the first request has ended', () => world.emulator.requests.every((request) => request.ended));
  expect((await audit(world)).join()).toMatch(/a: charged 2 times/);
});
