/**
 * Reported of Microsoft's clients: every receiver attaches with the same epoch, so the newest wins; whoever is busy in a
 * handler hears nothing of it, reads on from its queue, takes the partition back and writes a checkpoint that lies behind
 * the other's (100 became 40). The partition hops, events are handled twice, and after a restart again from far behind.
 */
import type { ContainerClient } from '@azure/storage-blob';
import { describe, expect, it } from 'vitest';
import { systemHost } from '../../runtime/host/host';
import { BlobStore, type CheckpointOutcome } from '../../runtime/sources/event-hubs/blob-store';
import {
  deaf,
  isCheckpointWrite,
  recordCheckpoints,
  throughProxy,
  unconditional,
  useHubBilling,
} from '../support/hub-billing';
import { until } from '../support/until';

const world = useHubBilling();
const HOUR_MS = 3_600_000;
const ALL = ['ann', 'bea', 'cat', 'dee'];

/** The partition goes to this worker: it is given up in the container, and nobody else gets it. */
async function hopTo(name: string, others: string): Promise<void> {
  const { hub } = world();
  const barred = hub.proxy.inject({
    matches: ({ method, path, headers }) =>
      method === 'PUT' && path.includes('/ownership/') && String(headers['x-ms-meta-ownerid']).startsWith(`${others}:`),
    action: { kind: 'refuse', status: 412, code: 'ConditionNotMet' },
  });
  await hub.steal('0', '');
  await until(`${name} has it`, async () => (await hub.owner('0')).startsWith(`${name}:`));
  barred.remove();
}

/** Rises, or stays. */
const rises = (sequences: readonly number[]) => sequences.every((each, at) => each >= (sequences[at - 1] ?? -1));

interface Hops {
  readonly written: ReadonlyMap<string, number[]>;
  /** Deliveries, whoever they came to. */
  readonly delivered: number;
  readonly published: number;
}

/** A partition changes hands while a charge is on its way; each time the producer sends again what it sent before. */
async function hopInMidCharge(hops: number, meanwhile = async (): Promise<unknown> => undefined): Promise<Hops> {
  const { hub, billing, publish, worker } = world();
  const written = recordCheckpoints(hub.proxy, hub.container);
  const [left, right] = [await worker('left'), await worker('right')];
  let published = 0;
  const send = async (customers: readonly string[]) => {
    await publish(customers, '0');
    published += customers.length;
  };
  for (let hop = 1; hop <= hops; hop++) {
    await until('one of them has it', () => left.held() + right.held() === 1);
    const [to, from] = left.held() === 1 ? ['right', 'left'] : ['left', 'right'];
    const hold = billing.emulator.faults.hold({ on: 'confirm', when: 'before-execute' });
    await send(ALL.slice((hop - 1) * 2, hop * 2));
    await hold.reached;
    await hopTo(to as string, from as string);
    hold.release();
    await meanwhile();
    await send(ALL.slice(0, hop * 2));
    await until('the new owner has read all', async () => (await hub.checkpoints())['0'] === published - 1);
  }
  // What the robbed one had claimed and not begun is the reconciler's, which every worker runs.
  await billing.expireClaims();
  return { written, published, delivered: left.consumer.records.length + right.consumer.records.length };
}

describe('a partition that hops between two workers in the middle of charges', () => {
  it('costs one charge a customer, and its checkpoint never goes back', async () => {
    const { written, delivered, published } = await hopInMidCharge(2);
    const { billing, charges, charged } = world();
    await charged(ALL);
    expect(charges(ALL)).toEqual(ALL.map(() => 1));
    expect(billing.emulator.books.doubleCharged()).toEqual([]);
    expect(billing.emulator.books.total('usd')).toBe(ALL.length * 1_200);
    expect(delivered).toBeGreaterThan(published);
    expect(written.get('0')?.length).toBeGreaterThan(1);
    expect(rises(written.get('0') ?? [])).toBe(true);
  });

  it('twin: costs more when the ledger forgets, and the books show it', async () => {
    await hopInMidCharge(1, async () => {
      await until('the first is charged', () => world().billing.charges('ann') > 0);
      world().billing.emulator.clock.advance(25 * HOUR_MS);
      await world().billing.db.query('DELETE FROM billing_records');
    });
    await until('somebody is charged again', () => world().billing.emulator.books.doubleCharged().length > 0);
  });
});

describe('a checkpoint that was on its way when the partition changed hands', () => {
  /** What the container has taken, in order, and what the late writer was told. */
  async function writeLate(container: ContainerClient): Promise<{ taken: number[]; outcome: CheckpointOutcome }> {
    const { hub } = world();
    const written = recordCheckpoints(hub.proxy, hub.container);
    const of = (owner: string) => new BlobStore({ container, owner, host: systemHost, listener: deaf });
    const [old, next] = [of('old'), of('next')];
    await old.claimOwnership([{ ...hub.group, partitionId: '0', ownerId: 'old' }]);
    await old.writeCheckpoint(hub.group, '0', { sequenceNumber: 20, offset: '20' });
    const held = hub.proxy.inject({ matches: isCheckpointWrite, action: { kind: 'hang' }, times: 1 });
    const late = old.writeCheckpoint(hub.group, '0', { sequenceNumber: 40, offset: '40' });
    await until('it is on its way', () => held.hits.length === 1);
    await hub.steal('0', 'next');
    await next.writeCheckpoint(hub.group, '0', { sequenceNumber: 100, offset: '100' });
    held.remove();
    const outcome = await late;
    return { taken: written.get('0') ?? [], outcome };
  }

  it('is not written over the newer one', async () => {
    const { proxy, container } = world().hub;
    expect(await writeLate(throughProxy(proxy, container))).toEqual({ taken: [20, 100], outcome: 'newer' });
  });

  it('twin: goes back when the write has no condition, as in the store that Microsoft publishes', async () => {
    const { proxy, container } = world().hub;
    const { taken } = await writeLate(unconditional(throughProxy(proxy, container)));
    expect(taken).toEqual([20, 100, 40]);
    expect(rises(taken)).toBe(false);
  });
});
