import { beforeAll, describe, expect, it } from 'vitest';
import {
  BillingEventHub,
  CheckpointStore,
  EventHubsBilling,
  type EventHubsBillingArgs,
  LedgerDatabase,
} from '../../constructs/azure';
import { readConfig } from '../../runtime/config';
import { container, DIGEST, environmentOf, GROUP, SECRET_URI, VAULT_ID } from './consumer-program';
import { knownValue, type Run, runProgram } from './mocks';

/** The first screen of the documentation, with a digest and an id in place of its dots. */
const FIRST_SCREEN: EventHubsBillingArgs = {
  resourceGroupName: GROUP,
  image: `contoso.azurecr.io/chargeonce@${DIGEST}`,
  stripeKeySecretUri: SECRET_URI,
  keyVaultId: VAULT_ID,
  stripeMode: 'test',
  spendCap: { perPeriod: { usd: 50_000_00 } },
  alertEmails: ['billing-oncall@contoso.com'],
};

const run = (more: Partial<EventHubsBillingArgs> = {}, preview = false) =>
  runProgram(() => new EventHubsBilling('usage', { ...FIRST_SCREEN, ...more }), { preview });

const STATEFUL = [
  'azure-native:eventhub:Namespace',
  'azure-native:eventhub:EventHub',
  'azure-native:storage:StorageAccount',
  'azure-native:storage:BlobContainer',
  'azure-native:dbforpostgresql:Server',
  'azure-native:dbforpostgresql:Database',
  'azure-native:operationalinsights:Workspace',
];

describe('the first screen', () => {
  let made: Run<EventHubsBilling>;
  beforeAll(async () => {
    made = await runProgram(() => {
      const billing = new EventHubsBilling('usage', FIRST_SCREEN);
      billing.eventHub.grantPublish('metering', '00000000-0000-0000-0000-000000000000');
      return billing;
    });
  });

  it('makes all of it, each part below the pattern', () => {
    const parts = made.resources.filter(({ type }) => type.startsWith('chargeonce:azure:'));
    expect(parts.map(({ type, name }) => `${type.split(':').at(-1)} ${name}`).sort()).toEqual([
      'BillingConsumer usage-consumer',
      'BillingEventHub usage-hub',
      'BillingMonitoring usage-monitoring',
      'CheckpointStore usage-checkpoints',
      'EventHubsBilling usage',
      'LedgerDatabase usage-ledger',
    ]);
    const [pattern, ...children] = parts;
    expect(pattern?.name).toBe('usage');
    expect(children.filter(({ parent }) => parent !== pattern?.urn)).toEqual([]);
  });

  it('wires what it made: the worker’s settings are those of the parts', async () => {
    const worker = environmentOf(container(made, 'worker', 'usage-consumer'));
    const { eventHub, checkpointStore, ledger } = made.result;
    expect(readConfig(worker)).toMatchObject({ ok: true, warnings: [] });
    for (const { connectionEnvironment } of [eventHub, checkpointStore, ledger]) {
      for (const [name, value] of Object.entries(connectionEnvironment)) {
        expect([name, worker[name]]).toEqual([name, await knownValue(value)]);
      }
    }
  });

  it('protects and keeps what must not be lost', () => {
    const kept = made.resources.filter(({ type }) => STATEFUL.includes(type));
    expect(kept.map(({ type }) => type).sort()).toEqual([...STATEFUL].sort());
    expect(kept.filter(({ protect, retainOnDelete }) => !(protect && retainOnDelete))).toEqual([]);
  });

  it('sends every part’s logs to one workspace', async () => {
    const workspaceId = await knownValue(made.result.workspaceId);
    const settings = made.ofType('azure-native:monitor:DiagnosticSetting');
    expect(settings.map(({ name }) => name).sort()).toEqual(
      expect.arrayContaining(['usage-consumer-environment-logs', 'usage-hub-diagnostics', 'usage-ledger-diagnostics']),
    );
    expect(settings.filter(({ inputs }) => inputs.workspaceId !== workspaceId)).toEqual([]);
  });

  it('has alerts on each part, and somebody who is told', () => {
    expect(made.named('usage-monitoring-action-group').inputs).toMatchObject({
      emailReceivers: [{ emailAddress: 'billing-oncall@contoso.com' }],
    });
    for (const alert of ['workers-gone', 'hub-throttled', 'storage-throttled', 'ledger-down']) {
      expect(made.named(`usage-monitoring-${alert}`).inputs).toBeDefined();
    }
  });

  it('says what to run and where requests come from', async () => {
    const { opsCommand, consumer, egressIps, migrateCommand } = made.result;
    expect(await knownValue(opsCommand)).toBe(await knownValue(consumer.opsCommand));
    expect(await knownValue(egressIps!)).toEqual([expect.stringMatching(/^\d+\.\d+\.\d+\.\d+$/)]);
    expect(migrateCommand).toBeUndefined();
  });

  it('lets the producer publish', () => {
    expect(made.named('metering').inputs).toMatchObject({ principalId: '00000000-0000-0000-0000-000000000000' });
  });

  it('is the same in a preview', async () => {
    const names = ({ resources }: Run<unknown>) => resources.map(({ type, name }) => `${type} ${name}`).sort();
    expect(names(await run({}, true))).toEqual(names(await run()));
  });
});

describe('each argument matters', () => {
  it('protect: false, for tests, turns all protection off', async () => {
    const { resources } = await run({ protect: false });
    expect(resources.filter(({ protect, retainOnDelete }) => protect || retainOnDelete)).toEqual([]);
  });

  it('tags are on every part', async () => {
    const made = await run({ tags: { team: 'billing' } });
    for (const name of ['hub-namespace', 'checkpoints-account', 'ledger-server', 'consumer-app', 'logs']) {
      expect(made.named(`usage-${name}`).inputs.tags).toEqual({ team: 'billing' });
    }
  });

  it('workspaceId is used in place of one of its own', async () => {
    const made = await run({ workspaceId: 'theirs' });
    expect(made.ofType('azure-native:operationalinsights:Workspace')).toEqual([]);
    const settings = made.ofType('azure-native:monitor:DiagnosticSetting');
    expect(new Set(settings.map(({ inputs }) => inputs.workspaceId))).toEqual(new Set(['theirs']));
  });

  it('settings of the parts reach them', async () => {
    const made = await run({
      eventHub: { partitionCount: 8, retentionHours: 96, consumerGroupName: 'eu' },
      checkpointStore: { sku: 'Standard_LRS' },
      ledger: { highAvailability: 'off' },
      minReplicas: 8,
      migrations: 'manual',
      environment: { DEFAULT_CURRENCY: 'eur' },
    });
    expect(made.named('usage-hub-hub').inputs).toMatchObject({
      partitionCount: 8,
      retentionDescription: { retentionTimeInHours: 96 },
    });
    expect(made.named('usage-checkpoints-account').inputs).toMatchObject({ sku: { name: 'Standard_LRS' } });
    expect(made.named('usage-ledger-server').inputs).toMatchObject({ highAvailability: { mode: 'Disabled' } });
    const worker = environmentOf(container(made, 'worker', 'usage-consumer'));
    expect(worker).toMatchObject({ EVENTHUB_CONSUMER_GROUP: 'eu', DEFAULT_CURRENCY: 'eur' });
    // A consumer group has a container of its own.
    expect(worker.CHECKPOINT_CONTAINER_URL).toMatch(/\/checkpoints-eu$/);
    expect(await knownValue(made.result.migrateCommand!)).toContain('az containerapp job start');
  });

  it('a network that is there is used by ledger and workers', async () => {
    const network = { subnetId: 'subnet-1', privateDnsZoneId: 'zone-1', environmentSubnetId: 'subnet-2' };
    const made = await run({ network });
    expect(made.ofType('azure-native:network:VirtualNetwork')).toEqual([]);
    expect(made.named('usage-ledger-server').inputs).toMatchObject({
      network: { delegatedSubnetResourceId: 'subnet-1' },
    });
    expect(made.named('usage-consumer-environment').inputs).toMatchObject({
      vnetConfiguration: { infrastructureSubnetId: 'subnet-2' },
    });
    expect(made.result.egressIps).toBeUndefined();
  });

  it('parts that are there are used as they are', async () => {
    const common = { resourceGroupName: 'rg-data' };
    const made = await runProgram(() => {
      const parts = {
        eventHub: new BillingEventHub('theirs', common),
        checkpointStore: new CheckpointStore('their-checkpoints', common),
        ledger: new LedgerDatabase('their-ledger', common),
      };
      return { parts, billing: new EventHubsBilling('usage', { ...FIRST_SCREEN, ...parts }) };
    });
    expect(made.result.billing).toMatchObject(made.result.parts);
    expect(made.ofType('azure-native:eventhub:EventHub')).toHaveLength(1);
    expect(made.ofType('azure-native:dbforpostgresql:Server')).toHaveLength(1);
    expect(made.ofType('azure-native:storage:StorageAccount')).toHaveLength(1);
  });

  it('a network beside a whole ledger is refused', async () => {
    const program = () => {
      const ledger = new LedgerDatabase('their-ledger', { resourceGroupName: GROUP });
      const network = { subnetId: 's', privateDnsZoneId: 'z' };
      return new EventHubsBilling('usage', { ...FIRST_SCREEN, ledger, network });
    };
    await expect(runProgram(program)).rejects.toThrow(
      /\[EventHubsBilling usage\] network is .* in its network already/,
    );
  });

  it('a container of checkpoints can have another name than the group', async () => {
    const made = await run({ checkpointStore: { containerName: 'kept-here' } });
    expect(made.named('usage-checkpoints-container').inputs).toMatchObject({ containerName: 'kept-here' });
  });

  it('size and rate reach the workers', async () => {
    const made = await run({ cpu: 1, memory: '2Gi', minReplicas: 1, maxReplicas: 4, stripeMaxRps: 80 });
    const worker = container(made, 'worker', 'usage-consumer');
    expect(worker.resources).toEqual({ cpu: 1, memory: '2Gi' });
    expect(environmentOf(worker)).toMatchObject({ STRIPE_MAX_RPS: '10' });
    expect(made.result.consumer).toMatchObject({ minReplicas: 1, maxReplicas: 4 });
  });
});
