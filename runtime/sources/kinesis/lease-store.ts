/**
 * The lease table. Each write is one conditional request, sent once. What became of it is always said:
 * a failed condition or a silence is read again before it counts, because an answer can be lost after the
 * write was applied.
 */
import {
  DeleteItemCommand,
  DescribeTableCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  ScanCommand,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb';
import { errorText, isConditionFailed, isMissing, isThrottle, wasRefused } from './aws-errors';
import { type Item, itemKey, type Lease, MIGRATION_KEY, type NewLease, newLeaseItem, parseItem } from './lease-item';
import type { Checkpoint } from './positions';
import { migrationRefusal } from './table-view';

/** What became of a conditional write. */
export type WriteOutcome =
  /** `recovered`: its answer was lost; the item, read again, shows that it was applied. */
  | { readonly kind: 'written'; readonly lease: Lease; readonly recovered: boolean }
  /** Not applied as far as known. `unsure`: it may still be, so read before the next write. */
  | { readonly kind: 'retry'; readonly unsure: boolean; readonly why: 'throttled' | 'unknown'; readonly error: string }
  /** Somebody else's write came first; undefined: the item is gone. */
  | { readonly kind: 'lost'; readonly now: Lease | undefined };

type Verdict = 'landed' | 'open' | 'lost';

export interface LeaseStoreOptions {
  readonly dynamodb: DynamoDBClient;
  readonly tableName: string;
  /** The owner name under which this process writes. */
  readonly owner: string;
}

export class LeaseStore {
  constructor(private readonly options: LeaseStoreOptions) {}

  /** Fails in words when the table is missing or is no lease table. */
  async verifyTable(): Promise<void> {
    const { tableName } = this.options;
    const answer = await this.options.dynamodb
      .send(new DescribeTableCommand({ TableName: tableName }))
      .catch((cause) => {
        if (!isMissing(cause)) throw cause;
        throw new LeaseTableError(
          `The lease table "${tableName}" does not exist. Deploy the LeaseTable construct, or set LEASE_TABLE_NAME to its name.`,
        );
      });
    const schema = answer.Table?.KeySchema ?? [];
    if (schema.length !== 1 || schema[0]?.AttributeName !== 'leaseKey') {
      const found = schema.map((key) => key.AttributeName).join(', ');
      throw new LeaseTableError(
        `The table "${tableName}" has the key (${found}); a lease table has the key (leaseKey).`,
      );
    }
  }

  /**
   * What a fleet of Java workers at versions 3.0 to 3.4 says in a table beside this one. Most deployments have no
   * such table, and no permission to look: then it forbids nothing.
   */
  async migrationRefusal(): Promise<string | undefined> {
    const { dynamodb, tableName } = this.options;
    const request = { TableName: `${tableName}-CoordinatorState`, Key: { key: { S: MIGRATION_KEY } } };
    try {
      const { Item: item } = await dynamodb.send(new GetItemCommand({ ...request, ConsistentRead: true }));
      return item ? migrationRefusal(item) : undefined;
    } catch (error) {
      if (wasRefused(error) && !isThrottle(error)) return undefined;
      throw error;
    }
  }

  /** Every item of the table. Eventually consistent unless asked otherwise. */
  async scan(consistent = false): Promise<Item[]> {
    const items: Item[] = [];
    let start: Item | undefined;
    do {
      const page = await this.options.dynamodb.send(
        new ScanCommand({
          TableName: this.options.tableName,
          ConsistentRead: consistent,
          ...(start ? { ExclusiveStartKey: start } : {}),
        }),
      );
      items.push(...(page.Items ?? []));
      start = page.LastEvaluatedKey;
    } while (start);
    return items;
  }

  /** The lease as it is now, strongly consistent; undefined when absent or no lease. */
  async read(key: string): Promise<Lease | undefined> {
    const answer = await this.options.dynamodb.send(
      new GetItemCommand({ TableName: this.options.tableName, Key: itemKey(key), ConsistentRead: true }),
    );
    if (!answer.Item) return undefined;
    const parsed = parseItem(answer.Item);
    return parsed.kind === 'lease' ? parsed.lease : undefined;
  }

  /** False: it was there already. */
  async create(lease: NewLease): Promise<boolean> {
    try {
      await this.options.dynamodb.send(
        new PutItemCommand({
          TableName: this.options.tableName,
          Item: newLeaseItem(lease),
          ConditionExpression: 'attribute_not_exists(leaseKey)',
        }),
      );
      return true;
    } catch (error) {
      if (isConditionFailed(error)) return false;
      throw error;
    }
  }

  /** Heartbeat, and the checkpoint with it when there is a new one. */
  renew(lease: Lease, checkpoint: Checkpoint | undefined, unsure = false): Promise<WriteOutcome> {
    return this.write(lease, unsure, this.judgeHolder(lease), {
      UpdateExpression: `SET leaseCounter = :next${checkpoint ? `, ${SET_CHECKPOINT} ${REMOVE_PENDING}` : ''}`,
      ConditionExpression: 'leaseCounter = :n AND attribute_not_exists(checkpointOwner)',
      ExpressionAttributeValues: { ...counters(lease), ...checkpointValues(checkpoint) },
    });
  }

  /** Makes this process the owner. Clears what a half-done handover of another version may have left. */
  take(lease: Lease, unsure = false): Promise<WriteOutcome> {
    const { owner } = this.options;
    const switched = lease.owner !== undefined && lease.owner !== owner;
    const judge = (now: Lease | undefined): Verdict => {
      if (now?.owner === owner && now.counter === lease.counter + 1n) return 'landed';
      return now?.counter === lease.counter ? 'open' : 'lost';
    };
    return this.write(lease, unsure, judge, {
      UpdateExpression: `SET leaseOwner = :me, leaseCounter = :next REMOVE checkpointOwner${
        switched ? ' ADD ownerSwitchesSinceCheckpoint :one' : ''
      }`,
      ConditionExpression: 'leaseCounter = :n',
      ExpressionAttributeValues: {
        ...counters(lease),
        ':me': { S: owner },
        ...(switched ? { ':one': { N: '1' } } : {}),
      },
    });
  }

  /** Gives the lease up, the last checkpoint in the same write, so that a peer need not wait for it to expire. */
  release(lease: Lease, checkpoint: Checkpoint | undefined, unsure = false): Promise<WriteOutcome> {
    const judge = (now: Lease | undefined): Verdict => {
      if (now && now.owner === undefined && now.counter === lease.counter + 1n) return 'landed';
      return this.judgeHolder(lease)(now) === 'open' ? 'open' : 'lost';
    };
    return this.write(lease, unsure, judge, {
      UpdateExpression: checkpoint
        ? `SET leaseCounter = :next, ${SET_CHECKPOINT} ${REMOVE_PENDING}, leaseOwner`
        : 'SET leaseCounter = :next REMOVE leaseOwner',
      ConditionExpression: 'leaseOwner = :me AND leaseCounter = :n',
      ExpressionAttributeValues: {
        ...counters(lease),
        ':me': { S: this.options.owner },
        ...checkpointValues(checkpoint),
      },
    });
  }

  /** Records the children of a shard that ended; the counter stays as it is. */
  async setChildren(key: string, children: readonly string[]): Promise<void> {
    await this.options.dynamodb.send(
      new UpdateItemCommand({
        TableName: this.options.tableName,
        Key: itemKey(key),
        UpdateExpression: 'SET childShardIds = :children',
        ConditionExpression: 'attribute_exists(leaseKey)',
        ExpressionAttributeValues: { ':children': { SS: [...children] } },
      }),
    );
  }

  /** Removes a lease, only in the very state in which it was seen. */
  async remove(lease: Lease): Promise<boolean> {
    try {
      await this.options.dynamodb.send(
        new DeleteItemCommand({
          TableName: this.options.tableName,
          Key: itemKey(lease.key),
          ConditionExpression: 'leaseCounter = :n',
          ExpressionAttributeValues: { ':n': { N: String(lease.counter) } },
        }),
      );
      return true;
    } catch (error) {
      if (isConditionFailed(error)) return false;
      throw error;
    }
  }

  private judgeHolder(lease: Lease): (now: Lease | undefined) => Verdict {
    return (now) => {
      if (now?.owner !== this.options.owner) return 'lost';
      if (now.counter === lease.counter + 1n) return 'landed';
      return now.counter === lease.counter ? 'open' : 'lost';
    };
  }

  private async write(
    lease: Lease,
    unsure: boolean,
    judge: (now: Lease | undefined) => Verdict,
    update: Pick<UpdateItemCommandInput, 'UpdateExpression' | 'ConditionExpression' | 'ExpressionAttributeValues'>,
  ): Promise<WriteOutcome> {
    if (unsure) {
      const earlier = await this.reread(lease, judge, 'an earlier write got no answer');
      if (earlier.kind !== 'retry' || earlier.unsure) return earlier;
    }
    try {
      const answer = await this.options.dynamodb.send(
        new UpdateItemCommand({
          TableName: this.options.tableName,
          Key: itemKey(lease.key),
          ReturnValues: 'ALL_NEW',
          ...update,
        }),
      );
      const parsed = answer.Attributes ? parseItem(answer.Attributes) : undefined;
      if (parsed?.kind === 'lease') return { kind: 'written', lease: parsed.lease, recovered: false };
      return this.reread(lease, judge, 'the answer shows no lease');
    } catch (error) {
      if (isThrottle(error)) return { kind: 'retry', unsure: false, why: 'throttled', error: errorText(error) };
      if (isConditionFailed(error)) return this.reread(lease, judge, errorText(error));
      if (wasRefused(error)) return { kind: 'retry', unsure: false, why: 'unknown', error: errorText(error) };
      return this.reread(lease, judge, errorText(error));
    }
  }

  private async reread(lease: Lease, judge: (now: Lease | undefined) => Verdict, error: string): Promise<WriteOutcome> {
    let now: Lease | undefined;
    try {
      now = await this.read(lease.key);
    } catch (cause) {
      return { kind: 'retry', unsure: true, why: 'unknown', error: `${error}; then ${errorText(cause)}` };
    }
    const verdict = judge(now);
    if (verdict === 'landed' && now) return { kind: 'written', lease: now, recovered: true };
    if (verdict === 'open') return { kind: 'retry', unsure: false, why: 'unknown', error };
    return { kind: 'lost', now };
  }
}

/** The table cannot be used as a lease table; waiting will not help. */
export class LeaseTableError extends Error {
  override readonly name = 'LeaseTableError';
}

const SET_CHECKPOINT = 'checkpoint = :cp, checkpointSubSequenceNumber = :sub, ownerSwitchesSinceCheckpoint = :zero';
const REMOVE_PENDING = 'REMOVE pendingCheckpoint, pendingCheckpointSubSequenceNumber, pendingCheckpointState';

function counters(lease: Lease): Item {
  return { ':n': { N: String(lease.counter) }, ':next': { N: String(lease.counter + 1n) } };
}

function checkpointValues(checkpoint: Checkpoint | undefined): Item {
  if (!checkpoint) return {};
  return { ':cp': { S: checkpoint.sequence }, ':sub': { N: String(checkpoint.sub) }, ':zero': { N: '0' } };
}
