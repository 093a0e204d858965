import { Stack, Tokenization } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { ENVIRONMENT, METRICS_NAMESPACE } from '../../../runtime/contract';
import { stripeShare } from '../../shared/stripe-rate';
import type { ILeaseTable } from '../lease-table/lease-table-base';
import type { ILedgerDatabase } from '../ledger/ledger-login';
import type { SpendCap } from '../spend-cap';
import type { IBillingStream } from '../stream/billing-stream-base';
import type { StripeMode } from '../stripe-mode';

/** Where the runtime answers /healthz, inside the task only. */
export const HEALTH_PORT = 8080;

export interface WorkerSettings {
  readonly stream: IBillingStream;
  readonly leaseTable: ILeaseTable;
  readonly ledger: ILedgerDatabase;
  readonly spendCap: SpendCap;
  readonly stripeMode: StripeMode;
  readonly fleetRps: number;
  readonly desiredCount: number;
  readonly metricsService: string;
}

/** How any container of ours finds the ledger; who it is there is said besides. */
export function ledgerEnvironment(ledger: ILedgerDatabase): Record<string, string> {
  return {
    [ENVIRONMENT.PGHOST]: ledger.endpoint.hostname,
    [ENVIRONMENT.PGPORT]: Tokenization.stringifyNumber(ledger.endpoint.port),
    [ENVIRONMENT.PGDATABASE]: ledger.databaseName,
    [ENVIRONMENT.PGSSLMODE]: 'verify-full',
  };
}

/** What worker and ops task are both told: the ledger, whose name they log in by, Stripe and the cap. */
export function chargingEnvironment(scope: Construct, settings: WorkerSettings): Record<string, string> {
  return {
    ...ledgerEnvironment(settings.ledger),
    ...settings.ledger.workerLogin.environment,
    ...settings.spendCap.environment,
    [ENVIRONMENT.AWS_REGION]: Stack.of(scope).region,
    [ENVIRONMENT.STRIPE_MODE]: settings.stripeMode,
    [ENVIRONMENT.STRIPE_MAX_RPS]: String(stripeShare(scope.node.path, settings.fleetRps, settings.desiredCount)),
  };
}

/** All that the worker is told, secrets apart. What is not here has the runtime's own default. */
export function workerEnvironment(scope: Construct, settings: WorkerSettings): Record<string, string> {
  const { stream, leaseTable } = settings;
  return {
    ...chargingEnvironment(scope, settings),
    [ENVIRONMENT.SOURCE]: 'kinesis',
    ...streamEnvironment(scope, stream),
    [ENVIRONMENT.LEASE_TABLE_NAME]: leaseTable.table.tableName,
    [ENVIRONMENT.LEASE_DURATION_MS]: String(leaseTable.leaseDuration.toMilliseconds()),
    ...(stream.maxRecordSize === undefined
      ? {}
      : { [ENVIRONMENT.MAX_EVENT_BYTES]: String(stream.maxRecordSize.toBytes()) }),
    [ENVIRONMENT.HEALTH_PORT]: String(HEALTH_PORT),
    [ENVIRONMENT.METRICS_FORMAT]: 'emf',
    [ENVIRONMENT.METRICS_NAMESPACE]: METRICS_NAMESPACE,
    [ENVIRONMENT.METRICS_SERVICE]: settings.metricsService,
  };
}

/** By name, or by ARN when it may be in another account: a name would then mean a stream of this one. */
function streamEnvironment(scope: Construct, { stream }: IBillingStream): Record<string, string> {
  return stream.env.account === Stack.of(scope).account
    ? { [ENVIRONMENT.STREAM_NAME]: stream.streamName }
    : { [ENVIRONMENT.STREAM_ARN]: stream.streamArn };
}
