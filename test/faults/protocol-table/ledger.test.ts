/** The last two rows of the protocol's table: what the ledger answers to save, gate and settle. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type BillingWorld, useBillingWorld, type WorkerOptions } from '../../support/billing-world';
import { type PostgresProxy, startPostgresProxy } from '../../support/postgres-proxy';
import { expectCharged, expectRow, keysOf, requestsOf } from './support';

const open = useBillingWorld();
let world: BillingWorld;
beforeEach(() => {
  world = open();
});

const BROKE = 'pm_card_chargeDeclined';

/** While the first worker waits at the point, its claim ends and the second one does everything. */
async function overtaken(on: 'create' | 'confirm', method = 'pm_card_visa', options: WorkerOptions = {}) {
  world.customer('a', method);
  const slow = world.worker(options);
  const hold = world.emulator.faults.hold({ on, when: 'before-respond' });
  const outcome = slow.charge('a');
  await hold.reached;
  await world.expireClaims();
  const fast = world.worker();
  await fast.reconcile();
  hold.release();
  return { slow, fast, outcome: await outcome };
}

describe('0 rows', () => {
  it('save: stop, forget; the row is somebody else’s, and charged once', async () => {
    const { outcome } = await overtaken('create');
    expect(outcome).toEqual({ kind: 'lost' });
    await expectCharged(world, 'a');
    expect(keysOf(world, 'confirm')).toHaveLength(1);
  });

  it('gate: stop; nothing is confirmed by the one who lost the row', async () => {
    world.customer('a');
    let atGate: () => void = () => undefined;
    const reached = new Promise<void>((resolve) => {
      atGate = resolve;
    });
    let goOn: () => void = () => undefined;
    const released = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const slow = world.worker({
      ledger: (real) =>
        new Proxy(real, {
          get(target, name) {
            if (name !== 'gate') return Reflect.get(target, name).bind(target);
            return async (row: never) => {
              atGate();
              await released;
              return target.gate(row);
            };
          },
        }),
    });
    const outcome = slow.charge('a');
    await reached;
    await world.expireClaims();
    await world.worker().reconcile();
    const confirms = keysOf(world, 'confirm').length;
    goOn();
    expect(await outcome).toEqual({ kind: 'lost' });
    expect(keysOf(world, 'confirm')).toHaveLength(confirms);
    await expectCharged(world, 'a');
  });

  it('settle of a decline: stop; the row is as its new owner left it', async () => {
    const { outcome } = await overtaken('confirm', BROKE);
    expect(outcome).toEqual({ kind: 'lost' });
    const row = await expectRow(world, 'a', { status: 'card_declined', reserved: true });
    expect(row.fence).toBe('2');
  });

  it('a CHARGED answer is still written by the one who lost the claim, at its old fence (R13)', async () => {
    world.customer('a');
    const slow = world.worker();
    const hold = world.emulator.faults.hold({ on: 'confirm', when: 'before-respond' });
    const outcome = slow.charge('a');
    await hold.reached;
    await world.db.query('UPDATE billing_records SET fence = fence + 1');
    hold.release();
    expect(await outcome).toEqual({ kind: 'ended', status: 'charged' });
    await expectCharged(world, 'a');
  });
});

describe('the answer to a commit is lost', () => {
  let proxy: PostgresProxy;
  beforeEach(async () => {
    proxy = await startPostgresProxy(world.db.url);
  });
  afterEach(() => proxy.stop());

  const cases = [
    ['claim', 'claim_batch', 'pm_card_visa', 'charged'],
    ['freeze', '"op":"freeze_payment_method"', 'pm_card_visa', 'charged'],
    ['save', '"op":"save_intent"', 'pm_card_visa', 'charged'],
    ['gate', '"op":"gate"', 'pm_card_visa', 'charged'],
    ['settle as charged', '"op":"settle"', 'pm_card_visa', 'charged'],
    ['settle as declined', '"op":"settle"', BROKE, 'card_declined'],
  ] as const;
  for (const [name, text, method, status] of cases) {
    it(`${name}: the same statement again, the same answer, and no request is sent twice`, async () => {
      const event = world.customer('a', method);
      const worker = world.worker({ ledgerOptions: { connection: { url: proxy.url } } });
      proxy.loseAnswerTo(text);
      await worker.deliver(event);
      expect(proxy.lost).toBe(1);
      const row = await expectRow(world, 'a', { status, attempt: 1 });
      expect(row.fence).toBe('1');
      expect(requestsOf(world)).toEqual(['create', 'confirm']);
    });
  }

  it('drop: the same statement again: one attempt more, not two', async () => {
    const event = world.customer('a');
    const worker = world.worker({ ledgerOptions: { connection: { url: proxy.url } } });
    const hold = world.emulator.faults.hold({ on: 'confirm', when: 'before-idempotency' });
    const delivered = worker.deliver(event);
    await hold.reached;
    world.emulator.cancel(world.emulator.intents()[0]!.id);
    proxy.loseAnswerTo('"op":"drop_intent"');
    hold.release();
    await delivered;
    expect(proxy.lost).toBe(1);
    expect(await expectCharged(world, 'a')).toMatchObject({ attempt: 2 });
  });

  it('next attempt: the same statement again: one attempt more, not two', async () => {
    const event = world.customer('a');
    const worker = world.worker({ ledgerOptions: { connection: { url: proxy.url } } });
    world.emulator.faults.add({ on: 'confirm', when: 'before-execute', what: 'error-500-cached' });
    proxy.loseAnswerTo('"op":"next_attempt"');
    await worker.deliver(event);
    expect(proxy.lost).toBe(1);
    expect(await expectCharged(world, 'a')).toMatchObject({ attempt: 2 });
  });
});
