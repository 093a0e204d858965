/** Both sides of the seam at once: what the construct tells each container, read by the runtime that runs in it. */
import type { Stack } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as kinesis from 'aws-cdk-lib/aws-kinesis';
import * as secrets from 'aws-cdk-lib/aws-secretsmanager';
import { describe, expect, it } from 'vitest';
import {
  type BillingConsumerProps,
  BillingStream,
  LedgerDatabase,
  Migrations,
  SpendCap,
  StripeMode,
} from '../../constructs/aws';
import { readChargingConfig, readConfig, readDatabaseConfig } from '../../runtime/config';
import { deployed } from './shell';
import { type ContainerName, consumerStack, container } from './stack';

/** The environment of a container's process: values resolved, secrets injected. */
function environment(stack: Stack, name: ContainerName, more: Readonly<Record<string, string>> = {}) {
  const said = container(stack, name);
  const values = Object.entries(said.environment).map(([key, value]) => [key, deployed(value)] as const);
  const injected = Object.keys(said.secrets).map((key) => [key, 'rk_test_4eC39HqLyjWDarjtT1zdp7dc'] as const);
  return { ...Object.fromEntries([...values, ...injected]), PGHOST: 'ledger.example.test', PGPORT: '5432', ...more };
}

const fine = { ok: true, warnings: [] };
type Change = (props: BillingConsumerProps, stack: Stack) => BillingConsumerProps;

describe.each<[string, Change]>([
  ['a consumer', (props) => props],
  ['a consumer with a cap', (props) => ({ ...props, spendCap: SpendCap.perPeriod({ usd: 5, eur: 7 }) })],
  ['a consumer that is migrated by hand', (props) => ({ ...props, migrations: Migrations.MANUAL })],
  [
    'a consumer of a stream in another account',
    (props, stack) => {
      const arn = 'arn:aws:kinesis:eu-west-1:999999999999:stream/theirs';
      return { ...props, stream: BillingStream.fromStream(stack, 'It', kinesis.Stream.fromStreamArn(stack, 'S', arn)) };
    },
  ],
  [
    'a consumer of a ledger that is known by a secret',
    (props, stack) => {
      const secret = secrets.Secret.fromSecretNameV2(stack, 'Login', 'billing/ledger');
      const securityGroup = ec2.SecurityGroup.fromSecurityGroupId(stack, 'Door', 'sg-ledger');
      return {
        ...props,
        ledger: LedgerDatabase.fromSecret(stack, 'Known', { secret, securityGroup, databaseName: 'it' }),
      };
    },
  ],
])('the runtime takes, without a warning, what it is told by %s', (_, change) => {
  const { stack } = consumerStack(change);

  it('as a worker', () => {
    expect(readConfig(environment(stack, 'worker'))).toMatchObject(fine);
  });

  it('as the ops task', () => {
    expect(readChargingConfig(environment(stack, 'ops'))).toMatchObject(fine);
  });

  it('as the migration', () => {
    expect(readDatabaseConfig(environment(stack, 'migrate'))).toMatchObject(fine);
  });
});

describe('the worker', () => {
  it('means what the props said', () => {
    const { stack, consumer } = consumerStack((props) => ({
      ...props,
      spendCap: SpendCap.perPeriod({ usd: 50_000_00 }),
      stripeMode: StripeMode.TEST,
    }));
    expect(readConfig(environment(stack, 'worker'))).toMatchObject({
      config: {
        kinesis: { region: 'eu-west-1', leaseDurationMs: 10_000 },
        billing: { maxEventBytes: 1_048_576 },
        stripe: { mode: 'test', maxRps: 5 },
        database: { user: 'chargeonce_worker', tls: { mode: 'verify-full' } },
        process: { healthPort: 8080, metricsFormat: 'emf', metricsService: consumer.metricsService },
      },
    });
  });

  it('would be refused with a password beside its login', () => {
    const read = readConfig(environment(consumerStack().stack, 'worker', { PGPASSWORD: 'beside' }));
    expect(read).toMatchObject({ ok: false, problems: [expect.stringContaining('PGPASSWORD')] });
  });
});
