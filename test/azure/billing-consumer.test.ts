import * as pulumi from '@pulumi/pulumi';
import { beforeAll, describe, expect, it } from 'vitest';
import { BillingConsumer } from '../../constructs/azure';
import { PLATFORM_STOP_TIMEOUT_MS } from '../../runtime/config/process';
import {
  at,
  type Change,
  container,
  containerOf,
  environmentOf,
  GROUP_ID,
  IMAGE,
  runConsumer,
  runConsumers,
  SECRET_URI,
  smallest,
} from './consumer-program';
import { knownValue, type Run, runProgram } from './mocks';

const WORKER_ID = `${GROUP_ID}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/charges-worker`;
/** How Pulumi marks a secret on its way to the engine. */
const SIGNATURE = '4dabf18193072939515e22adb298388d';
const SECRET = '1b47061264138c4ac30d75fd1eb44270';
const app = (run: Run<unknown>) => run.named('charges-app').inputs;

describe('a consumer of which only the necessary is said', () => {
  let run: Run<BillingConsumer>;
  beforeAll(async () => {
    run = await runConsumer();
  });

  it('runs the image as two replicas, with nothing that scales them and no door', () => {
    expect(at(app(run), 'template', 'scale')).toEqual({ minReplicas: 2, maxReplicas: 2 });
    expect(at(app(run), 'configuration', 'activeRevisionsMode')).toBe('Single');
    expect(app(run)).not.toHaveProperty('configuration.ingress');
    for (const name of ['worker', 'migrate', 'ops'] as const) expect(container(run, name).image).toBe(IMAGE);
    expect(container(run, 'worker')).toMatchObject({ args: ['consume'], resources: { cpu: 0.5, memory: '1Gi' } });
  });

  it('gives a worker as long to stop as the runtime counts on', () => {
    expect(at(app(run), 'template', 'terminationGracePeriodSeconds')).toBe(PLATFORM_STOP_TIMEOUT_MS / 1_000);
  });

  it('asks the worker itself how it is, within Azure’s bounds', () => {
    const { HEALTH_PORT } = environmentOf(container(run, 'worker'));
    const probes = container(run, 'worker').probes ?? [];
    expect(probes.map(({ type, httpGet }) => [type, httpGet])).toEqual([
      ['Startup', { path: '/healthz', port: Number(HEALTH_PORT), scheme: 'HTTP' }],
      ['Liveness', { path: '/healthz', port: Number(HEALTH_PORT), scheme: 'HTTP' }],
      ['Readiness', { path: '/readyz', port: Number(HEALTH_PORT), scheme: 'HTTP' }],
    ]);
    for (const probe of probes) {
      const within = (name: string, min: number, max: number) => {
        const value = Number(probe[name]);
        expect(value).toBeGreaterThanOrEqual(min);
        expect(value).toBeLessThanOrEqual(max);
      };
      within('initialDelaySeconds', 1, 60);
      within('periodSeconds', 1, 240);
      within('timeoutSeconds', 1, 240);
      within('failureThreshold', 1, 10);
    }
  });

  it('brings the schema up to date before the worker starts, and makes its role', async () => {
    const principal = await knownValue(run.result.identity.principalId);
    expect(container(run, 'migrate').args).toEqual([
      ...['migrate', '--apply', '--worker-role', 'charges-worker'],
      ...['--worker-auth', 'entra', '--worker-principal', principal],
    ]);
    expect(run.result.migrateJob).toBeUndefined();
    expect(run.result.migrateCommand).toBeUndefined();
  });

  it('has the key read from Key Vault as the worker, for worker and ops job, and for nobody else', () => {
    const secrets = [{ name: 'stripe-key', keyVaultUrl: SECRET_URI, identity: WORKER_ID }];
    for (const name of ['charges-app', 'charges-ops']) {
      expect(at(run.named(name).inputs, 'configuration', 'secrets')).toEqual(secrets);
    }
    const key = { name: 'STRIPE_API_KEY', secretRef: 'stripe-key' };
    expect(container(run, 'worker').env).toContainEqual(key);
    expect(container(run, 'ops').env).toContainEqual(key);
    expect(container(run, 'migrate').env).not.toContainEqual(key);
  });

  it('makes an environment in the ledger’s network, for which nothing has a secret', async () => {
    const environment = run.named('charges-environment').inputs;
    const subnet = await knownValue(pulumi.output(run.result.environment?.vnetConfiguration ?? {}));
    expect(environment).toMatchObject({
      appLogsConfiguration: { destination: 'azure-monitor' },
      workloadProfiles: [{ name: 'Consumption', workloadProfileType: 'Consumption' }],
      vnetConfiguration: { infrastructureSubnetId: expect.stringMatching(/\/subnets\/environment$/), internal: true },
    });
    expect(subnet).toMatchObject({ internal: true });
    expect(JSON.stringify(environment)).not.toContain('sharedKey');
    expect(run.named('charges-environment-logs').inputs).toMatchObject({
      resourceUri: await knownValue(run.result.environment!.id),
      workspaceId: await knownValue(run.result.workspaceId!),
      logs: [
        { category: 'ContainerAppConsoleLogs', enabled: true },
        { category: 'ContainerAppSystemLogs', enabled: true },
      ],
    });
    expect(run.result.logTable).toBe('ContainerAppConsoleLogs');
    expect(app(run)).toMatchObject({ workloadProfileName: 'Consumption' });
  });

  it('keeps the logs when the program goes, for 90 days', () => {
    const workspace = run.named('charges-logs');
    expect(workspace).toMatchObject({ protect: true, retainOnDelete: true, inputs: { retentionInDays: 90 } });
  });

  it('has an ops job that runs once, when somebody starts it, and is not tried again', () => {
    expect(at(run.named('charges-ops').inputs, 'configuration')).toMatchObject({
      triggerType: 'Manual',
      replicaRetryLimit: 0,
      manualTriggerConfig: { parallelism: 1, replicaCompletionCount: 1 },
    });
    expect(container(run, 'ops').args).toEqual(['--help']);
  });

  it('is known by its app’s name, which Azure takes and a preview shows', async () => {
    const { metricsService } = run.result;
    expect(app(run).containerAppName).toBe(metricsService);
    expect(environmentOf(container(run, 'worker')).METRICS_SERVICE).toBe(metricsService);
    for (const name of [metricsService, String(run.named('charges-ops').inputs.jobName)]) {
      expect(name).toMatch(/^(?!.*--)[a-z][a-z0-9-]{0,29}[a-z0-9]$/);
    }
    const elsewhere = await runConsumer(undefined, { stack: 'prod', preview: true });
    expect(elsewhere.result.metricsService).not.toBe(metricsService);
  });

  it('replaces app and jobs where Azure cannot move them, the old one first as the name is the same', () => {
    for (const name of ['charges-app', 'charges-ops']) {
      expect(run.named(name).replaceOnChanges).toEqual(['environmentId']);
    }
    expect(run.named('charges-environment').replaceOnChanges).toContain('vnetConfiguration.infrastructureSubnetId');
  });
});

describe('names', () => {
  it('are cut to what Container Apps takes', async () => {
    const long = 'Charges-Of-The-Whole-Company-In-Europe';
    const run = await runProgram(() => new BillingConsumer(long, { ...smallest(), migrations: 'manual' }));
    const names = ['app', 'ops', 'migrate'].map((part) => run.named(`${long}-${part}`).inputs);
    for (const { containerAppName, jobName } of names) {
      expect(containerAppName ?? jobName).toMatch(/^(?!.*--)[a-z][a-z0-9-]{0,29}[a-z0-9]$/);
    }
  });
});

type Read = (run: Run<unknown>, consumer: string) => unknown;
const worker =
  (name: string): Read =>
  (run, consumer) =>
    environmentOf(container(run, 'worker', consumer))[name];
const part =
  (name: string, ...path: string[]): Read =>
  (run, consumer) =>
    at(run.named(`${consumer}-${name}`).inputs, ...path);
const elsewhere: Change = (args) => ({
  ...args,
  image: args.image.replace('contoso.azurecr.io', 'registry.contoso.com'),
});
const mine = { server: 'Registry.contoso.com', id: 'r' };
const debug = { LOG_LEVEL: 'debug' };

/** The argument, what it is changed to, what is looked at, and what is seen there. */
const MATTERS: readonly [string, Change, Read, unknown][] = [
  [
    'minReplicas',
    (args) => ({ ...args, minReplicas: 3 }),
    part('app', 'template', 'scale'),
    { minReplicas: 3, maxReplicas: 3 },
  ],
  ['stripeMode', (args) => ({ ...args, stripeMode: 'live' }), worker('STRIPE_MODE'), 'live'],
  ['stripeMaxRps', (args) => ({ ...args, stripeMaxRps: 10 }), worker('STRIPE_MAX_RPS'), '2.5'],
  ['maxReplicas', (args) => ({ ...args, maxReplicas: 4 }), worker('STRIPE_MAX_RPS'), '2.5'],
  ['spendCap', (args) => ({ ...args, spendCap: { perPeriod: { usd: 5 } } }), worker('SPEND_CAP_DEFAULT'), 'usd:5'],
  [
    'cpu',
    (args) => ({ ...args, cpu: 1 }),
    (run, consumer) => container(run, 'worker', consumer).resources,
    { cpu: 1, memory: '2Gi' },
  ],
  [
    'memory',
    (args) => ({ ...args, cpu: 1, memory: '2.0Gi' }),
    (run, consumer) => container(run, 'ops', consumer).resources,
    { cpu: 1, memory: '2.0Gi' },
  ],
  ['environment, in the worker', (args) => ({ ...args, environment: debug }), worker('LOG_LEVEL'), 'debug'],
  [
    'environment, in the ops job',
    (args) => ({ ...args, environment: debug }),
    (run, consumer) => environmentOf(container(run, 'ops', consumer)).LOG_LEVEL,
    'debug',
  ],
  ['logRetentionDays', (args) => ({ ...args, logRetentionDays: 30 }), part('logs', 'retentionInDays'), 30],
  ['protect', (args) => ({ ...args, protect: false }), (run, consumer) => run.named(`${consumer}-logs`).protect, false],
  ['workspaceId', (args) => ({ ...args, workspaceId: 'theirs' }), part('environment-logs', 'workspaceId'), 'theirs'],
  [
    'workspaceId, in place of one of its own',
    (args) => ({ ...args, workspaceId: 'theirs' }),
    (run, consumer) => run.resources.filter(({ name }) => name === `${consumer}-logs`),
    [],
  ],
  [
    'environmentSubnetId',
    (args) => ({ ...args, environmentSubnetId: 'mine' }),
    part('environment', 'vnetConfiguration', 'infrastructureSubnetId'),
    'mine',
  ],
  [
    'registry',
    (args) => ({ ...elsewhere(args), registry: mine }),
    part('app', 'configuration', 'registries'),
    [{ server: 'Registry.contoso.com', identity: expect.stringMatching(/\/charges-\d+-worker$/) }],
  ],
  ['a public registry', elsewhere, part('app', 'configuration', 'registries'), undefined],
  ['resourceGroupName', (args) => ({ ...args, resourceGroupName: 'rg-2' }), part('app', 'resourceGroupName'), 'rg-2'],
  ...['app', 'ops', 'environment', 'worker', 'migrator', 'logs'].map((name): (typeof MATTERS)[number] => [
    `tags, of ${name}`,
    (args) => ({ ...args, tags: { team: 'billing' } }),
    part(name, 'tags'),
    { team: 'billing' },
  ]),
];

describe('each argument matters', () => {
  let changed: Run<unknown>;
  let unchanged: Run<unknown>;
  beforeAll(async () => {
    changed = await runConsumers(MATTERS.map(([, change]) => change));
    unchanged = await runConsumers([(args) => args]);
  });

  it.each(MATTERS.map(([what, , read, expected], index) => ({ what, read, expected, index })))(
    '$what',
    ({ read, expected, index }) => {
      expect(read(changed, `charges-${index}`)).toEqual(expected);
      expect(read(unchanged, 'charges-0')).not.toEqual(expected);
    },
  );
});

describe('an environment that is there', () => {
  const given: Change = (args) => ({ ...args, managedEnvironmentId: 'env-1' });

  it('is used, and nothing of it is made', async () => {
    const run = await runConsumer((args) => ({ ...given(args), workspaceId: 'theirs' }));
    for (const name of ['charges-app', 'charges-ops']) {
      expect(run.named(name).inputs.environmentId).toBe('env-1');
      expect(run.named(name).inputs).not.toHaveProperty('workloadProfileName');
    }
    expect(run.ofType('azure-native:app:ManagedEnvironment')).toEqual([]);
    expect(run.ofType('azure-native:operationalinsights:Workspace')).toEqual([]);
    expect(run.result.environment).toBeUndefined();
    expect(await knownValue(run.result.workspaceId!)).toBe('theirs');
  });

  it('has its logs where its owner sends them', async () => {
    const classic = await runConsumer(given);
    expect(classic.result).toMatchObject({ workspaceId: undefined, logTable: 'ContainerAppConsoleLogs_CL' });
    const monitored = await runConsumer((args) => ({ ...given(args), logTable: 'ContainerAppConsoleLogs' }));
    expect(monitored.result.logTable).toBe('ContainerAppConsoleLogs');
  });
});

describe('scaling', () => {
  it('follows the lag that the checkpoints leave, as an identity that may read hub and checkpoints', async () => {
    const run = await runConsumer((args) => ({ ...args, minReplicas: 1, maxReplicas: 4 }));
    const worker = environmentOf(container(run, 'worker'));
    const url = new URL(worker.CHECKPOINT_CONTAINER_URL ?? '');
    expect(at(app(run), 'template', 'scale')).toEqual({
      minReplicas: 1,
      maxReplicas: 4,
      rules: [
        {
          name: 'unprocessed-events',
          custom: {
            type: 'azure-eventhub',
            identity: WORKER_ID,
            metadata: {
              eventHubNamespace: worker.EVENTHUB_NAMESPACE?.split('.')[0],
              eventHubName: worker.EVENTHUB_NAME,
              consumerGroup: worker.EVENTHUB_CONSUMER_GROUP,
              storageAccountName: url.hostname.split('.')[0],
              blobContainer: url.pathname.slice(1),
              checkpointStrategy: 'blobMetadata',
              unprocessedEventThreshold: '64',
            },
          },
        },
      ],
    });
    expect(Number(worker.STRIPE_MAX_RPS)).toBe(20 / 8);
  });
});

describe('migrated by hand', () => {
  it('has a job for it, whose command the worker knows, and no init container', async () => {
    const run = await runConsumer((args) => ({ ...args, migrations: 'manual' }));
    expect(app(run)).not.toHaveProperty('template.initContainers');
    const job = run.named('charges-migrate');
    expect(containerOf(job, 'containers', 'migrate').args.slice(0, 2)).toEqual(['migrate', '--apply']);
    expect(job.inputs).not.toHaveProperty('configuration.secrets');
    const command = await knownValue(run.result.migrateCommand!);
    expect(command).toContain(`--name ${String(job.inputs.jobName)} `);
    expect(environmentOf(container(run, 'worker')).MIGRATE_COMMAND).toBe(command);
    expect(environmentOf(container(run, 'ops')).MIGRATE_COMMAND).toBe(command);
  });
});

describe('a key of the stack', () => {
  it('is a secret in what the engine is sent, and nowhere else', async () => {
    const run = await runConsumer(({ stripeKeySecretUri: _uri, keyVaultId: _vault, ...args }) => ({
      ...args,
      stripeKey: 'rk_test_of_the_stack',
    }));
    for (const name of ['charges-app', 'charges-ops']) {
      expect(run.named(name).inputs.configuration).toMatchObject({
        [SIGNATURE]: SECRET,
        value: { secrets: [{ name: 'stripe-key', value: 'rk_test_of_the_stack' }] },
      });
    }
    const elsewhere = run.resources.map(({ inputs }) => JSON.stringify({ ...inputs, configuration: null })).join();
    expect(elsewhere).not.toContain('rk_test_of_the_stack');
  });
});

describe('another key', () => {
  const ofStack =
    (stripeKey: string): Change =>
    ({ stripeKeySecretUri: _uri, keyVaultId: _vault, ...args }) => ({ ...args, stripeKey });
  const ofVersion =
    (digits: string): Change =>
    (args) => ({ ...args, stripeKeySecretUri: `${SECRET_URI}/${digits.repeat(16)}` });
  const ofOutput: Change = (args) => ({ ...args, stripeKeySecretUri: pulumi.output(SECRET_URI) });

  it('makes a new revision, which Container Apps would not for a changed secret', async () => {
    const keys = [
      ofStack('rk_test_4eC39H'),
      ofStack('rk_test_4eC39H'),
      ofStack('rk_test_5fD40J'),
      ofVersion('0a'),
      ofVersion('0b'),
      ofOutput,
    ];
    const run = await runConsumers([(args) => args, ...keys]);
    const [newest, ...versions] = Array.from(
      { length: keys.length + 1 },
      (_, index) => environmentOf(container(run, 'worker', `charges-${index}`)).STRIPE_KEY_VERSION,
    );
    expect(newest).toBeUndefined();
    expect(versions).toEqual([
      ...[expect.stringMatching(/^[0-9a-f]{8}$/), versions[0], expect.stringMatching(/^[0-9a-f]{8}$/)],
      ...['0a'.repeat(16), '0b'.repeat(16), 'newest'],
    ]);
    expect(versions[2]).not.toBe(versions[0]);
  });
});

describe.each([true, false])('with preview %s', (preview) => {
  it('declares the same resources', async () => {
    const names = (run: Run<unknown>) => run.resources.map(({ type, name }) => `${type} ${name}`).sort();
    expect(names(await runConsumer(undefined, { preview }))).toEqual(names(await runConsumer()));
  });
});
