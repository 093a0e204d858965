import * as pulumi from '@pulumi/pulumi';
import { describe, expect, it } from 'vitest';
import { BillingEventHub, type BillingEventHubArgs } from '../../constructs/azure';
import { changedResources } from './changed-resources';
import type { Values } from './mock-azure';
import { knownValues, type RunOptions, runProgram } from './mocks';

const GROUP = 'rg-billing';
const PRINCIPAL = '00000000-0000-4000-8000-00000000000a';
const ACCOUNT = '/subscriptions/s/resourceGroups/r/providers/Microsoft.Storage/storageAccounts/archive';
const CONTAINER = `${ACCOUNT}/blobServices/default/containers/events`;
const WORKSPACE = '/subscriptions/s/resourceGroups/r/providers/Microsoft.OperationalInsights/workspaces/logs';

const found = (more: Values = {}): Values => ({
  id: '/subscriptions/s/resourceGroups/rg-billing/providers/Microsoft.EventHub/namespaces/contoso',
  name: 'contoso',
  sku: { name: 'Standard' },
  serviceBusEndpoint: 'https://contoso.servicebus.chinacloudapi.cn:443/',
  ...more,
});
const looksUp = (namespace: Values): Pick<RunOptions, 'lookups'> => ({
  lookups: { 'azure-native:eventhub:getNamespace': () => namespace },
});

const run = (args: Partial<BillingEventHubArgs> = {}, options: RunOptions = {}) =>
  runProgram(() => new BillingEventHub('usage', { resourceGroupName: GROUP, ...args }), options);

describe.each([true, false])('BillingEventHub, preview %s', (preview) => {
  it('makes a namespace that grows, a hub that keeps a week and a group of its own, without local authentication', async () => {
    const hub = await run({}, { preview });
    expect(hub.named('usage-namespace').inputs).toEqual({
      resourceGroupName: GROUP,
      namespaceName: expect.stringMatching(/^usage-[0-9a-f]{8}$/),
      sku: { name: 'Standard', tier: 'Standard', capacity: 1 },
      isAutoInflateEnabled: true,
      maximumThroughputUnits: 4,
      disableLocalAuth: true,
      minimumTlsVersion: '1.2',
      publicNetworkAccess: 'Enabled',
    });
    expect(hub.named('usage-hub').inputs).toMatchObject({
      eventHubName: 'usage',
      partitionCount: 4,
      retentionDescription: { cleanupPolicy: 'Delete', retentionTimeInHours: 168 },
    });
    expect(hub.named('usage-group').inputs).toMatchObject({
      eventHubName: expect.anything(),
      consumerGroupName: 'chargeonce',
    });
    expect(hub.resources).toHaveLength(4);
  });

  it('tells a worker where it is, and in a preview what is known by then', async () => {
    const { result } = await run({}, { preview });
    expect(await knownValues(result.connectionEnvironment)).toEqual({
      EVENTHUB_NAME: 'usage',
      EVENTHUB_CONSUMER_GROUP: 'chargeonce',
      EVENTHUB_NAMESPACE: preview ? undefined : expect.stringMatching(/^usage-[0-9a-f]{8}\.servicebus\.windows\.net$/),
    });
    expect(result).toMatchObject({ partitionCount: 4, retentionHours: 168, consumerGroupName: 'chargeonce' });
  });

  it('keeps what is lost for ever, and lets Azure manage what is Azure’s', async () => {
    const hub = await run({}, { preview });
    for (const name of ['usage-namespace', 'usage-hub', 'usage-group']) {
      expect(hub.named(name)).toMatchObject({ protect: true, retainOnDelete: true });
    }
    expect(hub.named('usage-namespace')).toMatchObject({
      ignoreChanges: ['privateEndpointConnections', 'zoneRedundant', 'sku.capacity'],
      replaceOnChanges: ['sku.name', 'sku.tier'],
    });
  });

  it('grants on the hub alone, to service principals', async () => {
    const hub = await runProgram(
      () => {
        const made = new BillingEventHub('usage', { resourceGroupName: GROUP });
        made.grantPublish('metering', PRINCIPAL);
        made.grantConsume('worker', PRINCIPAL);
        return made;
      },
      { preview },
    );
    const roles = { metering: '2b629674-e913-4c01-ae53-ef4638d8f975', worker: 'a638d3c7-ab3a-418d-83e6-5f17a39d4fde' };
    for (const [name, role] of Object.entries(roles)) {
      const { inputs, parent } = hub.named(name);
      expect(parent).toBe(hub.named('usage').urn);
      expect(inputs).toMatchObject({
        principalId: PRINCIPAL,
        principalType: 'ServicePrincipal',
        roleDefinitionId: `/providers/Microsoft.Authorization/roleDefinitions/${role}`,
        ...(preview ? {} : { scope: expect.stringMatching(/\/namespaces\/usage-[0-9a-f]{8}\/eventhubs\/usage$/) }),
      });
    }
  });

  it('captures as the namespace, which may write to that container before it does', async () => {
    const hub = await run({ capture: { containerId: CONTAINER } }, { preview });
    expect(hub.named('usage-namespace').inputs.identity).toEqual({ type: 'SystemAssigned' });
    expect(hub.named('usage-capture').inputs).toMatchObject({
      scope: CONTAINER,
      ...(preview ? {} : { principalId: expect.stringMatching(/^00000000-/) }),
      roleDefinitionId: expect.stringContaining('ba92f5b4-2d11-453d-a403-e96b0029c9fe'),
    });
    expect(hub.named('usage-hub').dependsOn).toContain(hub.named('usage-capture').urn);
    expect(hub.named('usage-hub').inputs.captureDescription).toEqual({
      enabled: true,
      encoding: 'Avro',
      intervalInSeconds: 300,
      sizeLimitInBytes: 314_572_800,
      skipEmptyArchives: true,
      destination: {
        name: 'EventHubArchive.AzureBlockBlob',
        storageAccountResourceId: ACCOUNT,
        blobContainer: 'events',
        archiveNameFormat: '{Namespace}/{EventHub}/{PartitionId}/{Year}/{Month}/{Day}/{Hour}/{Minute}/{Second}',
        identity: { type: 'SystemAssigned' },
      },
    });
  });

  it('refuses another number of partitions of a hub that exists, and says what it would do to keys', async () => {
    const deployed = { 'usage-hub': { partitionCount: 4 } };
    await expect(run({ partitionCount: 8 }, { preview, deployed })).rejects.toThrow(
      /partitionCount is 8 for a hub that has 4; allowed: 4\. .*partition key is hashed over the partitions.*Make a second/,
    );
    // Neither the same number, nor a first deploy, nor anything else that changes is refused.
    await run({ retentionHours: 96 }, { preview, deployed });
    await run({ partitionCount: 8 }, { preview });
  });

  it('takes a namespace that is made elsewhere, in whichever cloud, and makes only the hub in it', async () => {
    const hub = await run({ namespaceName: 'contoso' }, { preview, ...looksUp(found()) });
    expect(hub.resources.map((each) => each.name).sort()).toEqual(['usage', 'usage-group', 'usage-hub']);
    expect(hub.named('usage-hub').inputs.namespaceName).toBe('contoso');
    const { EVENTHUB_NAMESPACE } = await knownValues(hub.result.connectionEnvironment);
    expect(EVENTHUB_NAMESPACE).toBe('contoso.servicebus.chinacloudapi.cn');
    expect(hub.result.namespace).toBeUndefined();
  });

  it('names the namespace as it was given where a lookup says no name, as in a unit test', async () => {
    const hub = await run({ namespaceName: 'contoso' }, { preview, ...looksUp({}) });
    expect(hub.named('usage-hub').inputs.namespaceName).toBe('contoso');
    const { EVENTHUB_NAMESPACE } = await knownValues(hub.result.connectionEnvironment);
    expect(EVENTHUB_NAMESPACE).toBe('contoso.servicebus.windows.net');
  });

  it.each([
    ['sku is "Basic"', found({ sku: { name: 'Basic' } }), {}],
    ['capture is a container, for a namespace without an identity', found(), { capture: { containerId: CONTAINER } }],
    ['sku is "Premium" for a namespace whose tier is "Standard"', found(), { sku: 'Premium' as const }],
    [
      'sku is "Standard" for a namespace whose tier is "Dedicated"',
      found({ clusterArmId: '/c' }),
      { sku: 'Standard' as const },
    ],
  ])('refuses an existing namespace: %s', async (words, namespace, args) => {
    await expect(run({ namespaceName: 'contoso', ...args }, { preview, ...looksUp(namespace) })).rejects.toThrow(words);
  });
});

describe('BillingEventHub', () => {
  it('goes as far as a dedicated cluster goes, when the namespace is in one', async () => {
    const args: Partial<BillingEventHubArgs> = { namespaceName: 'contoso', sku: 'Dedicated', partitionCount: 1_024 };
    const hub = await run(args, looksUp(found({ clusterArmId: '/c' })));
    expect(hub.named('usage-hub').inputs.partitionCount).toBe(1_024);
  });

  it('reads with $Default as it is: nobody can create it', async () => {
    const hub = await run({ consumerGroupName: '$Default' });
    expect(hub.ofType('azure-native:eventhub:ConsumerGroup')).toEqual([]);
    expect(hub.result.consumerGroup).toBeUndefined();
    expect(await knownValues(hub.result.connectionEnvironment)).toMatchObject({ EVENTHUB_CONSUMER_GROUP: '$Default' });
  });

  it('does not grow a namespace whose units are said to stay, and then follows its capacity', async () => {
    const hub = await run({ capacity: 3, maximumThroughputUnits: 3 });
    const { inputs, ignoreChanges } = hub.named('usage-namespace');
    expect(inputs).not.toHaveProperty('isAutoInflateEnabled');
    expect(ignoreChanges).not.toContain('sku.capacity');
  });

  const NAMESPACE = ['usage-namespace'];
  const HUB = ['usage-hub'];
  const matters: Record<
    Exclude<keyof BillingEventHubArgs, 'namespaceName'>,
    [Partial<BillingEventHubArgs>, string[]]
  > = {
    resourceGroupName: [{ resourceGroupName: 'rg-other' }, ['usage-group', 'usage-hub', 'usage-namespace']],
    tags: [{ tags: { team: 'billing' } }, NAMESPACE],
    sku: [{ sku: 'Premium' }, NAMESPACE],
    capacity: [{ capacity: 2 }, NAMESPACE],
    maximumThroughputUnits: [{ maximumThroughputUnits: 8 }, NAMESPACE],
    eventHubName: [{ eventHubName: 'meters' }, ['usage-group', 'usage-hub']],
    partitionCount: [{ partitionCount: 32 }, HUB],
    retentionHours: [{ retentionHours: 48 }, HUB],
    consumerGroupName: [{ consumerGroupName: 'billing' }, ['usage-group']],
    capture: [{ capture: { containerId: CONTAINER } }, ['usage-capture', 'usage-hub', 'usage-namespace']],
    workspaceId: [{ workspaceId: WORKSPACE }, ['usage-diagnostics']],
    protect: [{ protect: false }, ['usage-group', 'usage-hub', 'usage-namespace']],
  };
  it.each(Object.entries(matters))('%s changes what it says', async (_arg, [args, changed]) => {
    expect(changedResources(await run(), await run(args))).toEqual(changed);
  });

  const refused: readonly [string, object][] = [
    ['sku is "Basic"; allowed: Standard, Premium. Basic keeps events for one day', { sku: 'Basic' }],
    ['sku is "Dedicated"; allowed: Standard, Premium. Give the namespaceName', { sku: 'Dedicated' }],
    ['sku is "standard"; allowed: Standard, Premium', { sku: 'standard' }],
    ['partitionCount is 0; allowed: whole numbers from 1 to 32', { partitionCount: 0 }],
    ['partitionCount is 33; allowed: whole numbers from 1 to 32', { partitionCount: 33 }],
    ['partitionCount is 2.5; allowed', { partitionCount: 2.5 }],
    ['partitionCount is "4"; allowed', { partitionCount: '4' }],
    ['capacity is 3; allowed: 1, 2, 4, 8, 16. Premium is sold', { sku: 'Premium', capacity: 3 }],
    ['partitionCount is 101; allowed: whole numbers from 1 to 100', { sku: 'Premium', partitionCount: 101 }],
    ['retentionHours is 47 h; allowed: whole numbers from 48 to 168 h. Stripe may forget', { retentionHours: 47 }],
    ['retentionHours is 169 h; allowed: whole numbers from 48 to 168 h. A Standard', { retentionHours: 169 }],
    ['retentionHours is 2161 h; allowed: whole numbers from 48 to 2160 h', { sku: 'Premium', retentionHours: 2_161 }],
    ['capacity is 41; allowed: whole numbers from 1 to 40', { capacity: 41 }],
    ['maximumThroughputUnits is 2; allowed: whole numbers from 4 to 40', { capacity: 4, maximumThroughputUnits: 2 }],
    [
      'maximumThroughputUnits is 8; allowed: none unless sku is Standard',
      { sku: 'Premium', maximumThroughputUnits: 8 },
    ],
    ['capacity is 2; allowed: none beside an existing namespaceName', { namespaceName: 'contoso', capacity: 2 }],
    ['eventHubName is "-x"; allowed: up to 256 letters', { eventHubName: '-x' }],
    ['consumerGroupName is ""; allowed: up to 50 letters', { consumerGroupName: '' }],
    [`capture.containerId is "${ACCOUNT}"; allowed: /subscriptions`, { capture: { containerId: ACCOUNT } }],
  ];
  it.each(refused)('refuses in words: %s', async (words, args) => {
    const refusal = run(args, looksUp(found()));
    await expect(refusal).rejects.toThrow(`[BillingEventHub usage] ${words}`);
  });

  it('refuses a container that turns out to be something else at deploy', async () => {
    const refusal = run({ capture: { containerId: pulumi.output(ACCOUNT) } });
    await expect(refusal).rejects.toThrow(`capture.containerId is "${ACCOUNT}", which is no blob container’s id.`);
  });

  it('refuses a second of its name under another parent, as Azure’s names would be the same', async () => {
    const program = () => {
      for (const type of ['test:index:One', 'test:index:Other']) {
        new BillingEventHub(
          'usage',
          { resourceGroupName: 'rg' },
          { parent: new pulumi.ComponentResource(type, 'parent') },
        );
      }
    };
    await expect(runProgram(program)).rejects.toThrow(/Two components of this program have usage-.*give one another/);
  });

  it('has no type for a tier that is always refused', async () => {
    // @ts-expect-error Basic keeps events for one day.
    const program = () => new BillingEventHub('usage', { resourceGroupName: 'rg', sku: 'Basic' });
    await expect(runProgram(program)).rejects.toThrow('sku is "Basic"');
  });

  it('says all that is wrong at once', async () => {
    const refusal = run({ partitionCount: 99, retentionHours: 24, eventHubName: '?' });
    await expect(refusal).rejects.toThrow(/partitionCount is 99.*\n.*retentionHours is 24 h.*\n.*eventHubName is "\?"/);
  });
});
