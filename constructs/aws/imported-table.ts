import { Duration } from 'aws-cdk-lib';
import type * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type { Construct } from 'constructs';
import { LeaseTableBase } from './lease-table-base';

export interface ImportedTableOptions {
  /**
   * How long a lease lasts without renewal. All workers of the table must agree on it.
   * @default Duration.seconds(10)
   */
  readonly leaseDuration?: Duration;
}

/** A lease table that somebody else made. */
export class ImportedTable extends LeaseTableBase {
  readonly table: dynamodb.ITableV2;
  readonly leaseDuration: Duration;

  constructor(scope: Construct, id: string, table: dynamodb.ITableV2, options: ImportedTableOptions) {
    super(scope, id);
    this.table = table;
    this.leaseDuration = options.leaseDuration ?? Duration.seconds(10);
  }
}
