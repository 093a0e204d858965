import { Duration, Size } from 'aws-cdk-lib';
import * as ecs from 'aws-cdk-lib/aws-ecs';
import type * as logs from 'aws-cdk-lib/aws-logs';
import { ENVIRONMENT } from '../../../runtime/contract';
import { STOP_TIMEOUT_SECONDS } from '../../shared/limits';
import type { ILedgerDatabase } from '../ledger/ledger-login';
import { HEALTH_PORT, ledgerEnvironment } from './consumer-environment';

/** The user `node` of the official image. */
const USER = '1000:1000';

export type NamedContainer = ecs.ContainerDefinitionOptions & { readonly containerName: string };

export interface ContainerSetting {
  readonly name: string;
  readonly image: ecs.ContainerImage;
  readonly logGroup: logs.ILogGroup;
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly secrets: Readonly<Record<string, ecs.Secret>>;
}

/** What all our containers have in common: no root, no writable disk, time to stop, logs that never block. */
function container(setting: ContainerSetting): NamedContainer {
  return {
    containerName: setting.name,
    image: setting.image,
    command: [...setting.command],
    environment: { ...setting.environment },
    secrets: { ...setting.secrets },
    user: USER,
    readonlyRootFilesystem: true,
    stopTimeout: Duration.seconds(STOP_TIMEOUT_SECONDS),
    // Never blocking: an outage of CloudWatch would stall the worker until it loses its leases.
    logging: ecs.LogDrivers.awsLogs({
      streamPrefix: setting.name,
      logGroup: setting.logGroup,
      mode: ecs.AwsLogDriverMode.NON_BLOCKING,
      maxBufferSize: Size.mebibytes(16),
    }),
  };
}

export type Wiring = Pick<ContainerSetting, 'image' | 'logGroup'>;
type Told = Pick<ContainerSetting, 'environment' | 'secrets'>;

/** Reads the stream and charges. */
export function workerContainer(wiring: Wiring, told: Told): NamedContainer {
  return {
    ...container({ name: 'worker', command: ['consume'], ...wiring, ...told }),
    healthCheck: {
      // Unhealthy until first ready, so that a bad deploy rolls back; then alive, whatever its neighbours do.
      command: ['CMD', 'node', '-e', probe(`http://127.0.0.1:${HEALTH_PORT}/healthz`)],
      interval: Duration.seconds(30),
      timeout: Duration.seconds(10),
      retries: 3,
      startPeriod: Duration.seconds(120),
    },
  };
}

/**
 * Brings the schema up to date: a no-op when it is current, under a lock otherwise. The only one that sees the owner.
 *
 * @param given settings of the user's, of which it gets what says how to reach the ledger
 */
export function migrateContainer(
  wiring: Wiring,
  ledger: ILedgerDatabase,
  given: Readonly<Record<string, string>> = {},
): NamedContainer {
  const privateCa = given[ENVIRONMENT.PGSSLROOTCERT];
  return container({
    name: 'migrate',
    command: migrateArguments(ledger),
    ...wiring,
    environment: {
      ...(privateCa === undefined ? {} : { [ENVIRONMENT.PGSSLROOTCERT]: privateCa }),
      ...ledgerEnvironment(ledger),
    },
    secrets: {
      [ENVIRONMENT.PGUSER]: ecs.Secret.fromSecretsManager(ledger.ownerSecret, 'username'),
      [ENVIRONMENT.PGPASSWORD]: ecs.Secret.fromSecretsManager(ledger.ownerSecret, 'password'),
    },
  });
}

export function migrateArguments(ledger: ILedgerDatabase): readonly string[] {
  return ['migrate', '--apply', ...ledger.workerLogin.migrateArguments];
}

/** Any verb, for people on call. */
export function opsContainer(wiring: Wiring, told: Told): NamedContainer {
  return container({ name: 'ops', command: ['--help'], ...wiring, ...told });
}

/** The image has no curl; Node is there. */
function probe(url: string): string {
  return `fetch('${url}').then((r)=>process.exit(r.ok?0:1),()=>process.exit(1))`;
}
