/** The items that are written, attribute by attribute, as the Java client writes and reads them. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AwsClients, awsClients } from '../../runtime/sources/kinesis';
import { type Item, type Lease, parseItem } from '../../runtime/sources/kinesis/lease-item';
import { LeaseStore } from '../../runtime/sources/kinesis/lease-store';
import { TRIM_HORIZON } from '../../runtime/sources/kinesis/positions';
import { type RunningDynamoDb, startDynamoDb } from '../emulators/dynamodb';
import { createLeaseTable, deleteLease, leaseItems, putItem, useLocalCredentials } from '../support/aws-local';

const KEY = 'shardId-000000000007';
const BIG = 2n ** 60n;

let dynamodb: RunningDynamoDb;
let clients: AwsClients;
let store: LeaseStore;
beforeAll(async () => {
  useLocalCredentials();
  dynamodb = await startDynamoDb();
  clients = awsClients({ region: 'us-east-1', dynamodbEndpoint: dynamodb.endpoint, leaseDurationMs: 10_000 });
  store = new LeaseStore({ dynamodb: clients.dynamodb, tableName: 'leases', owner: 'me' });
  await createLeaseTable(clients.dynamodb, 'leases');
});
afterAll(async () => {
  clients.destroy();
  await dynamodb.stop();
});
beforeEach(() => deleteLease(clients.dynamodb, 'leases', KEY));

const item = async () => (await leaseItems(clients.dynamodb, 'leases')).get(KEY);

/** A lease that a Java worker holds, with everything it may have written. */
async function javaLease(changes: Item = {}): Promise<Lease> {
  const java: Item = {
    leaseKey: { S: KEY },
    leaseOwner: { S: 'java-1' },
    leaseCounter: { N: String(BIG) },
    checkpoint: { S: '5' },
    checkpointSubSequenceNumber: { N: '0' },
    ownerSwitchesSinceCheckpoint: { N: '2' },
    pendingCheckpoint: { S: '6' },
    pendingCheckpointSubSequenceNumber: { N: '1' },
    pendingCheckpointState: { B: Buffer.from('state') },
    throughputKBps: { N: '1.25' },
    ...changes,
  };
  await putItem(clients.dynamodb, 'leases', java);
  const parsed = parseItem(java);
  if (parsed.kind !== 'lease') throw new Error(parsed.why);
  return parsed.lease;
}

describe('create', () => {
  it('writes what the Java client writes: no owner, counter 0, sets only when there is something in them', async () => {
    expect(await store.create({ key: KEY, checkpoint: TRIM_HORIZON, parents: [] })).toBe(true);
    expect(await item()).toEqual({
      leaseKey: { S: KEY },
      leaseCounter: { N: '0' },
      ownerSwitchesSinceCheckpoint: { N: '0' },
      checkpoint: { S: 'TRIM_HORIZON' },
      checkpointSubSequenceNumber: { N: '0' },
    });
  });

  it('with parents and a hash range adds both, and never replaces a lease that is there', async () => {
    const child = { key: KEY, checkpoint: TRIM_HORIZON, parents: ['shardId-1'], hashRange: { start: 0n, end: 9n } };
    expect(await store.create(child)).toBe(true);
    expect(await item()).toMatchObject({
      parentShardId: { SS: ['shardId-1'] },
      startingHashKey: { S: '0' },
      endingHashKey: { S: '9' },
    });
    expect(await store.create({ ...child, parents: [] })).toBe(false);
    expect((await item())?.parentShardId).toBeDefined();
  });
});

describe('take', () => {
  it('names the new owner, counts the switch, clears a handover, keeps checkpoint and pending checkpoint', async () => {
    const lease = await javaLease({ checkpointOwner: { S: 'java-0' } });
    expect(await store.take(lease)).toMatchObject({ kind: 'written', lease: { owner: 'me', counter: BIG + 1n } });
    const now = await item();
    expect(now).toMatchObject({
      leaseOwner: { S: 'me' },
      leaseCounter: { N: String(BIG + 1n) },
      ownerSwitchesSinceCheckpoint: { N: '3' },
      checkpoint: { S: '5' },
      pendingCheckpoint: { S: '6' },
    });
    expect(now?.checkpointOwner).toBeUndefined();
  });

  it('of a lease without an owner counts no switch', async () => {
    const { owner: _owner, ...lease } = await javaLease();
    await store.take(lease);
    expect((await item())?.ownerSwitchesSinceCheckpoint?.N).toBe('2');
  });

  it('is refused when the owner renewed since the look', async () => {
    const lease = await javaLease();
    await javaLease({ leaseCounter: { N: String(BIG + 1n) } });
    expect(await store.take(lease)).toMatchObject({ kind: 'lost', now: { owner: 'java-1' } });
  });
});

describe('renew', () => {
  it('without a checkpoint changes the counter and nothing else', async () => {
    const lease = await javaLease({ leaseOwner: { S: 'me' } });
    const before = await item();
    await store.renew(lease, undefined);
    expect(await item()).toEqual({ ...before, leaseCounter: { N: String(BIG + 1n) } });
  });

  it('with a checkpoint writes it in the same request and clears what was pending', async () => {
    const lease = await javaLease({ leaseOwner: { S: 'me' } });
    await store.renew(lease, { sequence: '8', sub: 3 });
    const now = await item();
    expect(now).toMatchObject({
      leaseCounter: { N: String(BIG + 1n) },
      checkpoint: { S: '8' },
      checkpointSubSequenceNumber: { N: '3' },
      ownerSwitchesSinceCheckpoint: { N: '0' },
    });
    expect(Object.keys(now ?? {}).filter((name) => name.startsWith('pending'))).toEqual([]);
  });

  it('is refused while a newer Java client hands the lease over, and lost when it named another owner', async () => {
    const lease = await javaLease({ leaseOwner: { S: 'java-2' }, checkpointOwner: { S: 'me' } });
    expect(await store.renew({ ...lease, owner: 'me' }, undefined)).toMatchObject({
      kind: 'lost',
      now: { owner: 'java-2' },
    });
    expect((await item())?.leaseCounter?.N).toBe(String(BIG));
  });

  it('of an item that is gone is lost', async () => {
    const lease = await javaLease({ leaseOwner: { S: 'me' } });
    await deleteLease(clients.dynamodb, 'leases', KEY);
    expect(await store.renew(lease, undefined)).toEqual({ kind: 'lost', now: undefined });
    expect(await item()).toBeUndefined();
  });
});

describe('release', () => {
  it('removes the owner, never leaves an empty one, and takes the last checkpoint along', async () => {
    const lease = await javaLease({ leaseOwner: { S: 'me' } });
    expect(await store.release(lease, { sequence: '9', sub: 0 })).toMatchObject({ kind: 'written' });
    const now = await item();
    expect(now?.leaseOwner).toBeUndefined();
    expect(now).toMatchObject({ leaseCounter: { N: String(BIG + 1n) }, checkpoint: { S: '9' } });
  });

  it('does not touch a lease that another worker took', async () => {
    const lease = await javaLease();
    const before = await item();
    expect(await store.release({ ...lease, owner: 'me' }, undefined)).toMatchObject({ kind: 'lost' });
    expect(await item()).toEqual(before);
  });
});

it('children are noted without a change of the counter; a lease is deleted only as it was seen', async () => {
  const lease = await javaLease({ leaseOwner: { S: 'me' } });
  await store.setChildren(KEY, ['shardId-8', 'shardId-9']);
  expect(new Set((await item())?.childShardIds?.SS)).toEqual(new Set(['shardId-8', 'shardId-9']));
  expect((await item())?.leaseCounter?.N).toBe(String(BIG));
  expect(await store.remove({ ...lease, counter: lease.counter - 1n })).toBe(false);
  expect(await store.remove(lease)).toBe(true);
  expect(await item()).toBeUndefined();
});

it('a table that is absent or has another key is refused in words', async () => {
  const other = new LeaseStore({ dynamodb: clients.dynamodb, tableName: 'leases', owner: 'me' });
  await expect(other.verifyTable()).resolves.toBeUndefined();
  const missing = new LeaseStore({ dynamodb: clients.dynamodb, tableName: 'absent', owner: 'me' });
  await expect(missing.verifyTable()).rejects.toThrow('"absent" does not exist');
  await createLeaseTable(clients.dynamodb, 'orders', 'orderId');
  const orders = new LeaseStore({ dynamodb: clients.dynamodb, tableName: 'orders', owner: 'me' });
  await expect(orders.verifyTable()).rejects.toThrow('"orders" has the key (orderId)');
});
