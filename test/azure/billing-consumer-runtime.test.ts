/** Both sides of the seam at once: what the component tells each container, read by the runtime that runs in it. */
import { beforeAll, describe, expect, it } from 'vitest';
import { BillingConsumer, BillingEventHub } from '../../constructs/azure';
import { readChargingConfig, readConfig, readDatabaseConfig } from '../../runtime/config';
import {
  type Change,
  container,
  containerOf,
  environmentOf,
  GROUP,
  runConsumer,
  runConsumers,
  SECRET_URI,
  smallest,
} from './consumer-program';
import { type Run, runProgram } from './mocks';

const fine = { ok: true, warnings: [] };

const SHAPES: readonly [string, Change][] = [
  ['a consumer', (args) => args],
  ['a consumer with a cap', (args) => ({ ...args, spendCap: { perPeriod: { usd: 5, eur: 7 } } })],
  [
    'a consumer with a version of the key',
    (args) => ({ ...args, stripeKeySecretUri: `${SECRET_URI}/${'0a'.repeat(16)}` }),
  ],
  ['a consumer that scales', (args) => ({ ...args, maxReplicas: 4 })],
  ['a consumer that is migrated by hand', (args) => ({ ...args, migrations: 'manual' })],
  [
    'a consumer of a hub in Premium',
    (args) => ({
      ...args,
      eventHub: new BillingEventHub('long', { resourceGroupName: GROUP, sku: 'Premium', retentionHours: 720 }),
    }),
  ],
  [
    'a consumer with settings of its own',
    (args) => ({ ...args, environment: { DEFAULT_CURRENCY: 'eur', LOG_LEVEL: 'warn' } }),
  ],
];

describe('the runtime takes, without a warning, what it is told by', () => {
  let run: Run<readonly BillingConsumer[]>;
  beforeAll(async () => {
    run = await runConsumers(SHAPES.map(([, change]) => change));
  });

  describe.each(SHAPES.map(([what], index) => ({ what, index, consumer: `charges-${index}` })))(
    '$what',
    ({ index, consumer }) => {
      it('as a worker', () => {
        expect(readConfig(environmentOf(container(run, 'worker', consumer)))).toMatchObject(fine);
      });

      it('as the ops job', () => {
        expect(readChargingConfig(environmentOf(container(run, 'ops', consumer)))).toMatchObject(fine);
      });

      it('as the migration', () => {
        const migrate =
          run.result[index]?.migrateJob === undefined
            ? container(run, 'migrate', consumer)
            : containerOf(run.named(`${consumer}-migrate`), 'containers', 'migrate');
        expect(readDatabaseConfig(environmentOf(migrate))).toMatchObject(fine);
      });
    },
  );
});

describe('what the containers are told', () => {
  it('means what the arguments said', async () => {
    const run = await runConsumer((args) => ({
      ...args,
      spendCap: { perPeriod: { eur: 50_000_00 } },
      stripeMaxRps: 16,
      environment: { DEFAULT_CURRENCY: 'eur' },
    }));
    const { metricsService } = run.result;
    expect(readConfig(environmentOf(container(run, 'worker')))).toMatchObject({
      config: {
        source: 'event-hubs',
        billing: { defaultCurrency: 'eur' },
        spendCap: { mode: 'ledger', perPeriod: { eur: 50_000_00 } },
        stripe: { mode: 'test', maxRps: 4 },
        database: { user: 'charges-worker', tls: { mode: 'verify-full' } },
        process: { healthPort: 8080, metricsFormat: 'json', metricsService },
      },
    });
    expect(readChargingConfig(environmentOf(container(run, 'ops')))).toMatchObject({
      config: { stripe: { mode: 'test', maxRps: 4 }, database: { user: 'charges-worker' } },
    });
    expect(readDatabaseConfig(environmentOf(container(run, 'migrate')))).toMatchObject({
      config: { user: 'charges-migrator' },
    });
  });

  it('lets nobody start a worker in the ops job: it names no hub', async () => {
    const run = await runConsumer();
    const ops = environmentOf(container(run, 'ops'));
    expect(readConfig(ops)).toMatchObject({ ok: false });
    expect(Object.keys(ops).filter((name) => /^(SOURCE|EVENTHUB_|CHECKPOINT_)/.test(name))).toEqual([]);
  });

  it('gives each identity’s own login to its container', async () => {
    const run = await runConsumer();
    const [worker, migrator] = ['worker', 'migrator'].map((who) => {
      const { name } = run.named(`charges-${who}`);
      return { PGUSER: name, DATABASE_AUTH: 'entra', AZURE_CLIENT_ID: expect.stringMatching(/^[0-9a-f-]{36}$/) };
    });
    expect(environmentOf(container(run, 'worker'))).toMatchObject(worker ?? {});
    expect(environmentOf(container(run, 'ops'))).toMatchObject(worker ?? {});
    expect(environmentOf(container(run, 'migrate'))).toMatchObject(migrator ?? {});
    const [main, init] = (['worker', 'migrate'] as const).map(
      (name) => environmentOf(container(run, name)).AZURE_CLIENT_ID,
    );
    expect(main).not.toBe(init);
  });

  it('refuses in `environment` every name that it sets, and takes another of the runtime’s', async () => {
    const told = await runConsumer((args) => ({ ...args, migrations: 'manual', spendCap: { perPeriod: { usd: 1 } } }));
    const names = Object.keys(environmentOf(container(told, 'worker')));
    expect(names).toContain('MIGRATE_COMMAND');
    const run = await runProgram(() => {
      const parts = smallest();
      return [...names, 'DEFAULT_CURRENCY'].filter((name, index) => {
        try {
          new BillingConsumer(`charges-${index}`, { ...parts, environment: { [name]: 'eur' } });
          return true;
        } catch {
          return false;
        }
      });
    });
    expect(run.result).toEqual(['DEFAULT_CURRENCY']);
  });

  it('tells the migration of a private CA, which it needs as the worker does', async () => {
    const PGSSLROOTCERT = '/certs/ca.pem';
    const run = await runConsumer((args) => ({ ...args, environment: { PGSSLROOTCERT, LOG_LEVEL: 'debug' } }));
    for (const name of ['worker', 'ops', 'migrate'] as const) {
      expect(environmentOf(container(run, name))).toMatchObject({ PGSSLROOTCERT });
    }
    expect(environmentOf(container(run, 'migrate'))).not.toHaveProperty('LOG_LEVEL');
  });
});
