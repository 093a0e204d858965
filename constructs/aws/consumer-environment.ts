import { Stack, Tokenization } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { ENVIRONMENT } from '../../runtime/contract';
import { stripeShare } from '../shared/stripe-rate';
import type { IBillingStream } from './billing-stream-base';
import type { ILeaseTable } from './lease-table-base';
import type { ILedgerDatabase } from './ledger-login';
import type { SpendCap } from './spend-cap';
import type { StripeMode } from './stripe-mode';

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
}

/** How any container of ours finds the ledger. The user and password are secrets. */
export function ledgerEnvironment(ledger: ILedgerDatabase): Record<string, string> {
  return {
    [ENVIRONMENT.PGHOST]: ledger.endpoint.hostname,
    [ENVIRONMENT.PGPORT]: Tokenization.stringifyNumber(ledger.endpoint.port),
    [ENVIRONMENT.PGDATABASE]: ledger.databaseName,
    [ENVIRONMENT.PGSSLMODE]: 'verify-full',
  };
}

/** All that the worker is told, secrets apart. What is not here has the runtime's own default. */
export function workerEnvironment(scope: Construct, settings: WorkerSettings): Record<string, string> {
  return {
    ...ledgerEnvironment(settings.ledger),
    ...settings.spendCap.environment,
    [ENVIRONMENT.SOURCE]: 'kinesis',
    [ENVIRONMENT.STREAM_NAME]: settings.stream.stream.streamName,
    [ENVIRONMENT.LEASE_TABLE_NAME]: settings.leaseTable.table.tableName,
    [ENVIRONMENT.LEASE_DURATION_MS]: String(settings.leaseTable.leaseDuration.toMilliseconds()),
    [ENVIRONMENT.AWS_REGION]: Stack.of(scope).region,
    [ENVIRONMENT.STRIPE_MODE]: settings.stripeMode,
    [ENVIRONMENT.STRIPE_MAX_RPS]: String(stripeShare(scope.node.path, settings.fleetRps, settings.desiredCount)),
    [ENVIRONMENT.HEALTH_PORT]: String(HEALTH_PORT),
  };
}
