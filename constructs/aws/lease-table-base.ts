import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as iam from 'aws-cdk-lib/aws-iam';
import { Construct, type IConstruct } from 'constructs';

/** The index by owner. KCL 3.x adds it at run time; adding it later races that, so it is there from the start. */
export const OWNER_INDEX = 'LeaseOwnerToLeaseKeyIndex';

/** The table that says which worker reads which shard, and up to where. */
export interface ILeaseTable extends IConstruct {
  readonly table: dynamodb.ITableV2;
  /** How long a lease lasts without renewal. The one truth: consumers read it from here. */
  readonly leaseDuration: Duration;
  /** What a worker does to leases: the exact actions on the table, and Query on its one index. */
  grantLease(grantee: iam.IGrantable): iam.Grant;
  /** Reads and writes that this table and its index refused: it comes before lost leases. Sum a minute. */
  metricThrottled(options?: cloudwatch.MathExpressionOptions): cloudwatch.MathExpression;
}

/** What a lease table can do, whoever made it. */
export abstract class LeaseTableBase extends Construct implements ILeaseTable {
  abstract readonly table: dynamodb.ITableV2;
  abstract readonly leaseDuration: Duration;

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
    return onTable.combine(onIndex);
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
