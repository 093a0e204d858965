import { Annotations, type CfnResource, Duration, Stack } from 'aws-cdk-lib';
import type * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type * as kms from 'aws-cdk-lib/aws-kms';
import type { Construct } from 'constructs';
import { wrongProp } from '../../shared/check';
import { resourceOf } from '../made-here';
import { checkLeaseDuration } from './lease-checks';
import { LEASE_KEY, LEASE_OWNER, LeaseTableBase, OWNER_INDEX } from './lease-table-base';

/** What is known of a lease table that somebody else made. */
export interface ImportedTableOptions {
  /**
   * How long a lease lasts without renewal, 5 to 60 s. All workers of the table must agree on it, those of a Kinesis
   * Client Library beside ours too (its failoverTimeMillis).
   * @default Duration.seconds(10)
   */
  readonly leaseDuration?: Duration;
  /**
   * Which key encrypts the table. Say which, and nothing warns of a missing key.
   * @default - the table's `encryptionKey`, as `fromTableAttributes` is told; unknown without one
   */
  readonly encryption?: dynamodb.TableEncryptionV2;
}

/** A lease table that is not made by a LeaseTable. */
export class ImportedTable extends LeaseTableBase {
  readonly table: dynamodb.ITable;
  readonly leaseDuration: Duration;
  readonly maxShards?: number;
  protected readonly key?: kms.IKey;

  constructor(scope: Construct, id: string, table: dynamodb.ITable, options: ImportedTableOptions) {
    super(scope, id);
    this.table = table;
    this.leaseDuration = options.leaseDuration ?? Duration.seconds(10);
    checkLeaseDuration(this.node.path, this.leaseDuration);
    const key = options.encryption?.tableKey ?? table.encryptionKey;
    if (key !== undefined) this.key = key;

    const made = resourceOf(table);
    if (made !== undefined) this.checkKeys(made);
    else if (key === undefined && options.encryption === undefined) this.warnOfKey();
  }

  /** Of a table that this app makes. An index may be missing, as in a table of the client library's version 2. */
  private checkKeys(made: CfnResource): void {
    const { keySchema, globalSecondaryIndexes } = Stack.of(made).resolve(schemaOf(made)) as Schema;
    this.checkKey('table', keySchema, [LEASE_KEY.name]);
    const index = globalSecondaryIndexes?.find((each) => each.indexName === OWNER_INDEX);
    if (index !== undefined) this.checkKey(`index ${OWNER_INDEX}`, index.keySchema, [LEASE_OWNER.name, LEASE_KEY.name]);
  }

  private checkKey(of: string, schema: readonly KeyElement[], names: readonly string[]): void {
    const written = (each: readonly string[]) => each.join(', ');
    const received = schema.map((each) => each.attributeName);
    if (written(received) === written(names)) return;
    throw wrongProp({
      path: this.node.path,
      prop: `the key of the ${of}`,
      received: written(received),
      allowed: written(names),
      wayOut: 'Workers write leases as the Kinesis Client Library does. Import its table, or make a LeaseTable.',
    });
  }

  private warnOfKey(): void {
    Annotations.of(this).addWarningV2(
      'chargeonce:table-key-unknown',
      'The table is imported without its key. If it is encrypted with a key of your own, workers cannot use it until ' +
        'that key is given: LeaseTable.fromTable(…, { encryption: TableEncryptionV2.customerManagedKey(key) }). If it ' +
        'is not, say { encryption: TableEncryptionV2.dynamoOwnedKey() }, or awsManagedKey().',
    );
  }
}

interface KeyElement {
  readonly attributeName: string;
}
interface Schema {
  readonly keySchema: readonly KeyElement[];
  readonly globalSecondaryIndexes?: readonly {
    readonly indexName: string;
    readonly keySchema: readonly KeyElement[];
  }[];
}

/** Both kinds of table describe their keys alike. */
function schemaOf(made: CfnResource): unknown {
  const { keySchema, globalSecondaryIndexes } = made as dynamodb.CfnTable | dynamodb.CfnGlobalTable;
  return { keySchema, globalSecondaryIndexes };
}
