import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as kms from 'aws-cdk-lib/aws-kms';
import { Construct, type IConstruct } from 'constructs';

/** The index by owner. KCL 3.x adds it at run time; adding it later races that, so it is there from the start. */
export const OWNER_INDEX = 'LeaseOwnerToLeaseKeyIndex';

export const LEASE_KEY: dynamodb.Attribute = { name: 'leaseKey', type: dynamodb.AttributeType.STRING };
export const LEASE_OWNER: dynamodb.Attribute = { name: 'leaseOwner', type: dynamodb.AttributeType.STRING };

/** What DynamoDB does with a customer's key in the name of whoever reads and writes items. */
const KEY_ACTIONS = [
  'kms:Decrypt',
  'kms:DescribeKey',
  'kms:Encrypt',
  'kms:GenerateDataKey',
  'kms:ReEncryptFrom',
  'kms:ReEncryptTo',
] as const;

/** The table that says which worker reads which shard, and up to where. */
export interface ILeaseTable extends IConstruct {
  /** The table itself. */
  readonly table: dynamodb.ITable;
  /** How long a lease lasts without renewal. The one truth: consumers read it from here. */
  readonly leaseDuration: Duration;
  /** The most shards that the table is provisioned for. Absent: on demand, or unknown as of an imported table. */
  readonly maxShards?: number;
  /** What a worker does to leases: the exact actions on the table and its key, and Query on its one index. */
  grantLease(grantee: iam.IGrantable): iam.Grant;
  /** Reads and writes that this table and its index refused: it comes before lost leases. Sum a minute. */
  metricThrottled(options?: cloudwatch.MathExpressionOptions): cloudwatch.MathExpression;
}

/** What a lease table can do, whoever made it. */
export abstract class LeaseTableBase extends Construct implements ILeaseTable {
  abstract readonly table: dynamodb.ITable;
  abstract readonly leaseDuration: Duration;
  abstract readonly maxShards?: number;
  /** The key that the items are encrypted with, if it is the user's own. */
  protected abstract readonly key?: kms.IKey;

  grantLease(grantee: iam.IGrantable): iam.Grant {
    const onTable = iam.Grant.addToPrincipal({
      grantee,
      actions: [
        'dynamodb:DeleteItem',
        'dynamodb:DescribeTable',
        'dynamodb:GetItem',
        'dynamodb:PutItem',
        'dynamodb:Scan',
        'dynamodb:UpdateItem',
      ],
      resourceArns: [this.table.tableArn],
    });
    const onIndex = iam.Grant.addToPrincipal({
      grantee,
      actions: ['dynamodb:Query'],
      resourceArns: [`${this.table.tableArn}/index/${OWNER_INDEX}`],
    });
    const granted = onTable.combine(onIndex);
    return this.key ? granted.combine(this.key.grant(grantee, ...KEY_ACTIONS)) : granted;
  }

  metricThrottled(options: cloudwatch.MathExpressionOptions = {}): cloudwatch.MathExpression {
    const refused = (metricName: string, index: Record<string, string> = {}) =>
      new cloudwatch.Metric({
        namespace: 'AWS/DynamoDB',
        metricName,
        dimensionsMap: { TableName: this.table.tableName, ...index },
        statistic: 'Sum',
      });
    const index = { GlobalSecondaryIndexName: OWNER_INDEX };
    // SUM over an array skips those without data, which is every one until it has throttled: `a + b` would have none.
    return new cloudwatch.MathExpression({
      label: 'throttled requests',
      period: Duration.minutes(1),
      ...options,
      expression: 'SUM([writes, reads, indexWrites, indexReads])',
      usingMetrics: {
        writes: refused('WriteThrottleEvents'),
        reads: refused('ReadThrottleEvents'),
        indexWrites: refused('WriteThrottleEvents', index),
        indexReads: refused('ReadThrottleEvents', index),
      },
    });
  }
}
