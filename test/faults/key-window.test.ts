/** A worker dies at a point of the journey; the take-over comes 25 hours later, when Stripe has forgotten every key. */
import { beforeEach, describe, expect, it } from 'vitest';
import { CRASH_POINTS } from '../../runtime/contract';
import { audit } from '../support/audit';
import { type BillingWorld, CRASH, override, useBillingWorld } from '../support/billing-world';
import { requestsOf } from './protocol-table/support';

const open = useBillingWorld();
let world: BillingWorld;
beforeEach(() => {
  world = open();
});

const KEYS_FORGOTTEN_MS = 25 * 3_600_000;
const points = CRASH_POINTS.filter((point) => point !== 'before-checkpoint');

async function crashAt(point: string): Promise<Record<string, unknown>> {
  const event = world.customer('a');
  const doomed = world.worker({
    crash: (reached) => {
      if (reached === point) throw CRASH;
    },
  });
  await expect(doomed.charge('a')).rejects.toBe(CRASH);
  world.emulator.clock.advance(KEYS_FORGOTTEN_MS);
  await world.expireClaims();
  return event;
}

describe.each(points)('dead at %s, taken over when the keys are forgotten', (point) => {
  it('by the reconciler: one charge', async () => {
    await crashAt(point);
    await world.worker().reconcile();
    expect(world.charges('a')).toBe(1);
    expect(await world.row('a')).toMatchObject({ status: 'charged', attempt: 1 });
    expect(world.emulator.intents()).toHaveLength(1);
    expect(await audit(world)).toEqual([]);
  });

  it('by a redelivery: one charge', async () => {
    const event = await crashAt(point);
    const partition = await world.worker().deliver(event);
    expect(partition.position).toBe('1');
    expect(world.charges('a')).toBe(1);
    expect(world.emulator.intents()).toHaveLength(1);
    expect(await audit(world)).toEqual([]);
  });
});

it('and again and again: five workers die after their confirm, a day apart, and one charge remains', async () => {
  await crashAt('after-confirm');
  for (let day = 0; day < 4; day++) {
    const settle = async (): Promise<boolean> => Promise.reject(CRASH);
    const doomed = world.worker({ ledger: (real) => override(real, { settle }) });
    await doomed.reconcile();
    world.emulator.clock.advance(KEYS_FORGOTTEN_MS);
    await world.expireClaims();
  }
  await world.worker().reconcile();
  expect(world.charges('a')).toBe(1);
  expect(requestsOf(world).filter((request) => request === 'confirm')).toHaveLength(1);
  expect(await audit(world)).toEqual([]);
});

it('twin: a take-over that relies on the key alone charges twice', async () => {
  await crashAt('after-confirm');
  const forgetful = world.worker({
    ledger: (real) =>
      override(real, {
        claimDue: async (limit) =>
          (await real.claimDue(limit)).map((row) => ({ ...row, paymentIntentId: null, confirmStarted: false })),
        saveIntent: async () => true,
        gate: async () => true,
      }),
    stripe: (real) => override(real, { listIntents: async () => ({ kind: 'intents', intents: [] }) }),
  });
  await forgetful.reconcile();
  expect(world.charges('a')).toBe(2);
  expect((await audit(world)).join()).toMatch(/charged 2 times/);
});
