import type { Duration } from 'aws-cdk-lib';
import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { AlarmName } from '../../shared/alarm-texts';
import type { BillingConsumer } from '../consumer/billing-consumer';
import type { ILeaseTable } from '../lease-table/lease-table-base';
import type { ILedgerDatabase } from '../ledger/ledger-login';
import type { IBillingStream } from '../stream/billing-stream-base';

export interface BillingMonitoringProps {
  /** The workers to watch. */
  readonly consumer: BillingConsumer;
  /**
   * The stream that the consumer reads.
   * @default - no alarms on the stream
   */
  readonly stream?: IBillingStream;
  /**
   * The lease table of the consumer.
   * @default - no alarms on the table; the workers' own alarms take a lease of 10 seconds for granted
   */
  readonly leaseTable?: ILeaseTable;
  /**
   * The ledger. An imported one that is known by its secret alone has no metrics that could be named.
   * @default - no alarms on the database; that it does not answer is seen by the workers
   */
  readonly ledger?: ILedgerDatabase;
  /**
   * Who is told when the alarm `page` goes to ALARM, and when it is OK again.
   * @default - nobody, with a warning at synth
   */
  readonly alarmActions?: cloudwatch.IAlarmAction[];
  /**
   * How far reading may lag before the alarm `lagWarning`.
   * @default Duration.minutes(1)
   */
  readonly lagWarning?: Duration;
  /**
   * How far reading may lag before the alarm `lagCritical` pages.
   * @default - a quarter of the stream's retention; 6 hours when that is not known, as of an imported stream
   */
  readonly lagCritical?: Duration;
  /**
   * Whether the cluster has Container Insights, which the alarm `tasksMissing` needs.
   * @default - true for the consumer's own cluster, false for one that was given
   */
  readonly containerInsights?: boolean;
  /**
   * Whether to make a dashboard.
   * @default true
   */
  readonly dashboard?: boolean;
  /**
   * Alarms that are not wanted, by name.
   * @default - none
   */
  readonly disable?: AlarmName[];
}
