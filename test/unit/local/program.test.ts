/** What a Pulumi program must declare to be run here, and what is said of one that does not. */
import { describe, expect, it } from 'vitest';
import { roleDefinitionId } from '../../../constructs/azure/shared/roles';
import type { Declared, JsonObject } from '../../../stacks/local/sources/event-hubs/declared';
import { readProgram } from '../../../stacks/local/sources/event-hubs/program';

const declare = (type: string, outputs: JsonObject): Declared => {
  const resource = { ...outputs, id: outputs.id ?? `/id/${type}` };
  return { type: `azure-native:${type}`, name: type, inputs: resource, outputs: resource };
};
const worker = {
  name: 'worker',
  args: ['consume'],
  env: [
    { name: 'SOURCE', value: 'event-hubs' },
    { name: 'STRIPE_API_KEY', secretRef: 'key' },
  ],
};
const migrate = { name: 'migrate', args: ['migrate', '--apply'], env: [] };
const grant = (role: 'Azure Event Hubs Data Receiver' | 'Azure Event Hubs Data Sender', scope: string) =>
  declare('authorization:RoleAssignment', {
    roleDefinitionId: roleDefinitionId(role),
    scope,
    principalId: `${role} ${scope}`,
  });

const PROGRAM: readonly Declared[] = [
  declare('eventhub:Namespace', { serviceBusEndpoint: 'https://space.servicebus.windows.net:443/' }),
  declare('eventhub:EventHub', {
    id: '/space/hubs/usage',
    eventHubName: 'usage',
    partitionCount: 6,
    retentionDescription: { retentionTimeInHours: 72 },
  }),
  declare('eventhub:ConsumerGroup', { consumerGroupName: 'billing' }),
  declare('storage:StorageAccount', { primaryEndpoints: { blob: 'https://store.blob.core.windows.net/' } }),
  declare('storage:BlobContainer', { containerName: 'checkpoints' }),
  declare('dbforpostgresql:Server', { fullyQualifiedDomainName: 'ledger.postgres.database.azure.com' }),
  declare('dbforpostgresql:Database', { databaseName: 'chargeonce' }),
  declare('managedidentity:UserAssignedIdentity', { clientId: 'c', principalId: 'p', name: 'worker' }),
  declare('dbforpostgresql:AdministratorsMicrosoftEntra', { principalName: 'migrator', objectId: 'o' }),
  grant('Azure Event Hubs Data Receiver', '/space/hubs/usage'),
  grant('Azure Event Hubs Data Receiver', '/space'),
  grant('Azure Event Hubs Data Receiver', '/space/hubs/usage-2'),
  grant('Azure Event Hubs Data Sender', '/space/hubs/usage'),
  declare('app:ContainerApp', {
    configuration: { secrets: [{ name: 'key', keyVaultUrl: 'https://vault/secrets/stripe-rk' }] },
    template: { containers: [worker], initContainers: [migrate] },
  }),
];
/** The program with another resource of that type, or without one. */
const programWith = (type: string, outputs?: JsonObject) => [
  ...PROGRAM.filter((each) => each.type !== `azure-native:${type}`),
  ...(outputs ? [declare(type, outputs)] : []),
];

describe('the plan of a program', () => {
  it('is what the program declares, and nothing of our own', () => {
    expect(readProgram(PROGRAM)).toMatchObject({
      namespace: 'space.servicebus.windows.net',
      hub: { name: 'usage', partitionCount: 6, retentionHours: 72 },
      consumerGroup: 'billing',
      container: { name: 'checkpoints', url: 'https://store.blob.core.windows.net/checkpoints' },
      database: { host: 'ledger.postgres.database.azure.com', name: 'chargeonce' },
      identities: [{ clientId: 'c', principalId: 'p', name: 'worker' }],
      administrators: [{ name: 'migrator', principalId: 'o' }],
      keyVaultUrls: { key: 'https://vault/secrets/stripe-rk' },
      migrate: { name: 'migrate', command: ['migrate', '--apply'], environment: {} },
      worker: {
        command: ['consume'],
        environment: { SOURCE: 'event-hubs' },
        secrets: { STRIPE_API_KEY: 'key' },
      },
    });
  });

  it('lets read the hub who has the role on it or on its namespace, and nobody else', () => {
    expect([...readProgram(PROGRAM).receivers]).toEqual([
      'Azure Event Hubs Data Receiver /space/hubs/usage',
      'Azure Event Hubs Data Receiver /space',
    ]);
    expect([...readProgram(PROGRAM).checkpointers]).toEqual([]);
  });

  it.each([
    'eventhub:Namespace',
    'eventhub:EventHub',
    'eventhub:ConsumerGroup',
    'storage:StorageAccount',
    'storage:BlobContainer',
    'dbforpostgresql:Server',
    'dbforpostgresql:Database',
    'app:ContainerApp',
  ])('is refused without a %s', (type) => {
    expect(() => readProgram(programWith(type))).toThrow(`declares 0 resources of type azure-native:${type}`);
  });

  it('is refused with two hubs', () => {
    const two = [...PROGRAM, declare('eventhub:EventHub', { eventHubName: 'other' })];
    expect(() => readProgram(two)).toThrow('declares 2 resources of type azure-native:eventhub:EventHub');
  });

  it('is refused when a worker starts without a migration, or when it is not clear which the worker is', () => {
    const app = (template: JsonObject) => programWith('app:ContainerApp', { configuration: {}, template });
    expect(() => readProgram(app({ containers: [worker] }))).toThrow('who migrates?');
    expect(() => readProgram(app({ containers: [worker, worker], initContainers: [migrate] }))).toThrow(
      'has 2 of what',
    );
  });

  it('is refused when a hub does not say what it is', () => {
    const hub = (outputs: JsonObject) => programWith('eventhub:EventHub', outputs);
    expect(() => readProgram(hub({ eventHubName: 'usage' }))).toThrow('has no retentionDescription');
    const retentionDescription = { retentionTimeInHours: 72 };
    expect(() => readProgram(hub({ eventHubName: 'usage', retentionDescription }))).toThrow('partitionCount undefined');
  });
});
