import { Duration, RemovalPolicy, Stack, Token } from 'aws-cdk-lib';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type * as kms from 'aws-cdk-lib/aws-kms';
import type { Construct } from 'constructs';
import { leaseTableSize } from '../../../runtime/contract';
import { refuseSnapshot } from '../removal-check';
import { ImportedTable, type ImportedTableOptions } from './imported-table';
import { checkLeaseDuration, checkProvisionable } from './lease-checks';
import { type ILeaseTable, LEASE_KEY, LEASE_OWNER, LeaseTableBase, OWNER_INDEX } from './lease-table-base';

/** Provisioned capacity units, as the table starts with. */
export interface LeaseTableCapacity {
  /** Writes a second of 1 KB. */
  readonly write: number;
  /** Reads a second of 4 KB; half of them when they are eventually consistent, as ours are. */
  readonly read: number;
  /** Writes a second of the index by owner. */
  readonly indexWrite: number;
}

export interface LeaseTableProps {
  /**
   * The most shards at any moment, those of a reshard included (three times the open ones while a stream doubles): the
   * table is then provisioned for them.
   * @default - on demand, enough for 8,800 shards from the first second
   */
  readonly maxShards?: number;
  /**
   * How long a lease lasts without renewal, 5 to 60 s. A dead worker's shards stand still for one to two of these.
   * @default Duration.seconds(10)
   */
  readonly leaseDuration?: Duration;
  /**
   * Which key encrypts the table. With your own, workers are granted the use of it.
   * @default - the key that DynamoDB owns, at no charge
   */
  readonly encryption?: dynamodb.TableEncryptionV2;
  /**
   * Whether the table can be restored to any second of the last 35 days.
   * @default true
   */
  readonly pointInTimeRecovery?: boolean;
  /**
   * Whether a delete call is refused.
   * @default true
   */
  readonly deletionProtection?: boolean;
  /**
   * Name of the table.
   * @default - made by CloudFormation
   */
  readonly tableName?: string;
  /**
   * What becomes of the table when the stack goes. Without it the whole stream is read again, and found settled.
   * @default RemovalPolicy.RETAIN
   */
  readonly removalPolicy?: RemovalPolicy;
}

/** A lease table with the item schema of the Kinesis Client Library, so that an application of it can be replaced in place. */
export class LeaseTable extends LeaseTableBase {
  /**
   * A table that is made elsewhere: hash key `leaseKey`, and the index `LeaseOwnerToLeaseKeyIndex` if there is one. Its
   * keys are checked when this app makes it.
   */
  static fromTable(
    scope: Construct,
    id: string,
    table: dynamodb.ITable,
    options: ImportedTableOptions = {},
  ): ILeaseTable {
    return new ImportedTable(scope, id, table, options);
  }

  /** The table itself. */
  readonly table: dynamodb.ITableV2;
  readonly leaseDuration: Duration;
  /** Absent: on demand. */
  readonly capacity?: LeaseTableCapacity;
  readonly maxShards?: number;
  protected key?: kms.IKey;

  /**
   * @throws when a lease lasts less than 5 s, more than 60 s, or for a time not known at synth; when `maxShards` is no
   * number of shards, or more than one table can carry; when a snapshot is to be left behind
   */
  constructor(scope: Construct, id: string, props: LeaseTableProps = {}) {
    super(scope, id);
    this.leaseDuration = props.leaseDuration ?? Duration.seconds(10);
    checkLeaseDuration(this.node.path, this.leaseDuration);
    refuseSnapshot(this.node.path, props.removalPolicy);
    if (props.maxShards !== undefined) {
      checkProvisionable(this.node.path, props.maxShards, this.leaseDuration);
      this.maxShards = props.maxShards;
    }

    const scaling = props.maxShards === undefined ? onDemand() : provisioned(props.maxShards, this.leaseDuration);
    if (scaling.capacity) this.capacity = scaling.capacity;
    this.table = new dynamodb.TableV2(this, 'Resource', {
      partitionKey: LEASE_KEY,
      billing: scaling.billing,
      globalSecondaryIndexes: [
        {
          indexName: OWNER_INDEX,
          partitionKey: LEASE_OWNER,
          sortKey: LEASE_KEY,
          projectionType: dynamodb.ProjectionType.KEYS_ONLY,
          ...scaling.index,
        },
      ],
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: props.pointInTimeRecovery ?? true },
      deletionProtection: props.deletionProtection ?? true,
      ...(props.encryption === undefined ? {} : { encryption: this.renderable(props.encryption) }),
      ...(props.tableName === undefined ? {} : { tableName: props.tableName }),
      removalPolicy: props.removalPolicy ?? RemovalPolicy.RETAIN,
    }) as dynamodb.ITableV2;
    if (props.encryption?.tableKey !== undefined) this.encryptWith(props.encryption.tableKey);
  }

  /** The CDK names the key for each region, and refuses to where the region is not known yet: `encryptWith` does. */
  private renderable(encryption: dynamodb.TableEncryptionV2): dynamodb.TableEncryptionV2 {
    const nameless = encryption.tableKey !== undefined && Token.isUnresolved(Stack.of(this).region);
    return nameless ? dynamodb.TableEncryptionV2.awsManagedKey() : encryption;
  }

  private encryptWith(key: kms.IKey): void {
    this.key = key;
    const table = this.table.node.defaultChild as dynamodb.CfnGlobalTable;
    table.addPropertyOverride('Replicas.0.SSESpecification.KMSMasterKeyId', key.keyArn);
  }
}

interface Scaling {
  readonly billing: dynamodb.Billing;
  readonly index: { readCapacity?: dynamodb.Capacity; writeCapacity?: dynamodb.Capacity };
  readonly capacity?: LeaseTableCapacity;
}

function onDemand(): Scaling {
  return { billing: dynamodb.Billing.onDemand(), index: {} };
}

/** Nobody reads the index but a follower of the Kinesis Client Library's version 3, a few times a minute. */
const INDEX_READ = 5;

/** The index needs capacity of its own: it would inherit the table's, and a throttled index throttles the table. */
function provisioned(maxShards: number, leaseDuration: Duration): Scaling {
  const size = leaseTableSize({ shards: maxShards, leaseSeconds: leaseDuration.toSeconds({ integral: false }) });
  return {
    billing: dynamodb.Billing.provisioned({
      readCapacity: autoscaled(size.readMinimum, size.readMaximum),
      writeCapacity: autoscaled(size.writeMinimum, size.writeMaximum),
    }),
    index: {
      readCapacity: autoscaled(INDEX_READ, size.readMaximum),
      writeCapacity: autoscaled(size.indexWrite, size.indexWriteMaximum),
    },
    capacity: { write: size.writeMinimum, read: size.readMinimum, indexWrite: size.indexWrite },
  };
}

/** Seeded, or a table that was on demand could not become provisioned. */
function autoscaled(minCapacity: number, maxCapacity: number): dynamodb.Capacity {
  const seedCapacity = minCapacity;
  return dynamodb.Capacity.autoscaled({ minCapacity, maxCapacity, seedCapacity, targetUtilizationPercent: 70 });
}
