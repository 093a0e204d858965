import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type { Construct } from 'constructs';
import { leaseTableSize } from '../../runtime/contract';
import { wrongProp } from '../shared/check';
import { MAX_LEASE_SECONDS, MIN_LEASE_SECONDS } from '../shared/limits';
import { ImportedTable, type ImportedTableOptions } from './imported-table';
import { type ILeaseTable, LeaseTableBase, OWNER_INDEX } from './lease-table-base';

const LEASE_KEY: dynamodb.Attribute = { name: 'leaseKey', type: dynamodb.AttributeType.STRING };
const LEASE_OWNER: dynamodb.Attribute = { name: 'leaseOwner', type: dynamodb.AttributeType.STRING };

/** Provisioned capacity units, as the table starts with. */
export interface LeaseTableCapacity {
  readonly write: number;
  readonly read: number;
  readonly indexWrite: number;
}

export interface LeaseTableProps {
  /**
   * The most shards at any moment, those of a reshard included: the table is then provisioned for them.
   * @default - on demand, enough for 8,800 shards from the first second
   */
  readonly maxShards?: number;
  /**
   * How long a lease lasts without renewal, 5 to 60 s. A dead worker's shards stand still for one to two of these.
   * @default Duration.seconds(10)
   */
  readonly leaseDuration?: Duration;
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
  /** A table that exists already: hash key `leaseKey`, and the index `LeaseOwnerToLeaseKeyIndex` by owner. */
  static fromTable(
    scope: Construct,
    id: string,
    table: dynamodb.ITableV2,
    options: ImportedTableOptions = {},
  ): ILeaseTable {
    return new ImportedTable(scope, id, table, options);
  }

  readonly table: dynamodb.ITableV2;
  readonly leaseDuration: Duration;
  /** Absent: on demand. */
  readonly capacity?: LeaseTableCapacity;

  constructor(scope: Construct, id: string, props: LeaseTableProps = {}) {
    super(scope, id);
    this.leaseDuration = props.leaseDuration ?? Duration.seconds(10);
    this.checkLeaseDuration();
    this.checkMaxShards(props.maxShards);

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
      ...(props.tableName === undefined ? {} : { tableName: props.tableName }),
      removalPolicy: props.removalPolicy ?? RemovalPolicy.RETAIN,
    }) as dynamodb.ITableV2;
  }

  private checkLeaseDuration(): void {
    if (this.leaseDuration.isUnresolved()) return;
    const seconds = this.leaseDuration.toMilliseconds() / 1000;
    if (seconds < MIN_LEASE_SECONDS || seconds > MAX_LEASE_SECONDS) {
      throw wrongProp({
        path: this.node.path,
        prop: 'leaseDuration',
        received: `${seconds} s`,
        allowed: `${MIN_LEASE_SECONDS} to ${MAX_LEASE_SECONDS} s`,
        wayOut: 'Shorter leases are lost to pauses of the process, longer ones leave a dead worker’s shards unread.',
      });
    }
  }

  private checkMaxShards(maxShards: number | undefined): void {
    if (maxShards !== undefined && (!Number.isInteger(maxShards) || maxShards < 1)) {
      throw wrongProp({
        path: this.node.path,
        prop: 'maxShards',
        received: String(maxShards),
        allowed: 'a whole number from 1',
        wayOut: 'Count three times the open shards if the stream may double, or leave it out for an on-demand table.',
      });
    }
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

/** The index needs capacity of its own: it would inherit the table's, and a throttled index throttles the table. */
function provisioned(maxShards: number, leaseDuration: Duration): Scaling {
  const size = leaseTableSize({ shards: maxShards, leaseSeconds: leaseDuration.toMilliseconds() / 1000 });
  const autoscaled = (minCapacity: number, maxCapacity: number) =>
    dynamodb.Capacity.autoscaled({ minCapacity, maxCapacity, targetUtilizationPercent: 70 });
  return {
    billing: dynamodb.Billing.provisioned({
      readCapacity: autoscaled(size.readMinimum, size.readMaximum),
      writeCapacity: autoscaled(size.writeMinimum, size.writeMaximum),
    }),
    index: {
      readCapacity: autoscaled(size.readMinimum, size.readMaximum),
      writeCapacity: autoscaled(size.indexWrite, 3 * size.indexWrite),
    },
    capacity: { write: size.writeMinimum, read: size.readMinimum, indexWrite: size.indexWrite },
  };
}
