/** One event, delivered fifty times at once to four workers. */
import { beforeEach, describe, expect, it } from 'vitest';
import { mutate } from '../ledger/mutate';
import { audit } from '../support/audit';
import { type BillingWorld, override, useBillingWorld, type WorkerOptions } from '../support/billing-world';

const DELIVERIES = 50;
const WORKERS = 4;

const open = useBillingWorld({ latencyMs: 10 });
let world: BillingWorld;
beforeEach(() => {
  world = open();
});

async function deliverToAll(options: (n: number) => WorkerOptions = () => ({})): Promise<void> {
  const event = world.customer('a');
  const workers = Array.from({ length: WORKERS }, (_, n) => world.worker({ parkAfterMs: 300_000, ...options(n) }));
  await Promise.all(Array.from({ length: DELIVERIES }, (_, n) => workers[n % WORKERS]!.deliver(event)));
}

describe('fifty parallel deliveries of one event to four workers', () => {
  it('one row, one intent, one charge, and every delivery is finished', async () => {
    await deliverToAll();
    expect(await world.db.query('SELECT status, fence::integer FROM billing_records')).toEqual([
      { status: 'charged', fence: 1 },
    ]);
    expect(world.emulator.intents()).toHaveLength(1);
    expect(world.emulator.requests.filter((r) => r.operation === 'payment_intents.confirm')).toHaveLength(1);
    expect(await audit(world)).toEqual([]);
  });

  it('also when every claim is taken from whoever holds it: a claim is no guard for money', async () => {
    const live = [
      await mutate(
        world.db,
        'claim_batch',
        "WHERE b.status = 'pending' AND b.claim_expires_at <= now()\n",
        "WHERE b.status = 'pending'\n",
      ),
      await mutate(
        world.db,
        'claim_batch',
        "OR (b.status = 'pending' AND b.claim_expires_at <= now()\n",
        "OR (b.status = 'pending'\n",
      ),
    ];
    try {
      await deliverToAll();
      const [row] = await world.db.query<{ fence: number }>('SELECT fence::integer FROM billing_records');
      expect(row?.fence).toBeGreaterThan(1);
      expect(world.charges('a')).toBe(1);
      expect(await audit(world)).toEqual([]);
    } finally {
      for (const putBack of live.reverse()) await putBack();
    }
  });

  it('twin: workers that ask no ledger, each with a key of its own, charge more than once, and the books show it', async () => {
    await deliverToAll((n) => ({
      ledger: (real) =>
        override(real, {
          look: async (events) => events.map(() => ({ outcome: 'claimable' as const })),
          claim: async (requests) => {
            await real.claim(requests);
            return requests.map(({ event, description }) => ({
              outcome: 'mine' as const,
              row: {
                ...event,
                description,
                paymentMethod: 'pm_card_visa',
                metadata: null,
                status: 'pending' as const,
                idempotencyKey: `key of worker ${n}`,
                attempt: 1,
                paymentIntentId: null,
                confirmStarted: false,
                reserved: true,
                fence: 1n,
              },
            }));
          },
          saveIntent: async () => true,
          gate: async () => true,
          settle: async () => true,
        }),
    }));
    expect(world.charges('a')).toBe(WORKERS);
    expect(world.emulator.books.doubleCharged()).toHaveLength(1);
    expect((await audit(world)).join()).toMatch(/charged 4 times/);
  });
});
