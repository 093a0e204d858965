import { describe, expect, it } from 'vitest';
import { CheckpointStore, type CheckpointStoreArgs } from '../../constructs/azure';
import { refuseBlobSettings } from '../../constructs/azure/checkpoint-store/checkpoint-account';
import { changedResources } from './changed-resources';
import type { Values } from './mock-azure';
import { knownValues, type RunOptions, runProgram } from './mocks';

const GROUP = 'rg-billing';
const PRINCIPAL = '00000000-0000-4000-8000-00000000000a';
const SUBNET =
  '/subscriptions/s/resourceGroups/r/providers/Microsoft.Network/virtualNetworks/network/subnets/environment';
const ACCOUNT_ID = '/subscriptions/s/resourceGroups/rg-billing/providers/Microsoft.Storage/storageAccounts/contoso';

const OFF = { enabled: false };
const ALL_OFF = {
  isVersioningEnabled: false,
  deleteRetentionPolicy: OFF,
  containerDeleteRetentionPolicy: OFF,
  changeFeed: OFF,
  restorePolicy: OFF,
};
const existing = { accountName: 'contoso', nothingElseUsesIt: true } as const;

const run = (args: Partial<CheckpointStoreArgs> = {}, options: RunOptions = {}) =>
  runProgram(() => new CheckpointStore('usage', { resourceGroupName: GROUP, ...args }), options);

/** The lookups of an account that is made elsewhere, as Azure answers them. */
function looksUp(account: Values = {}, blobs: Values = ALL_OFF): Pick<RunOptions, 'lookups'> {
  const endpoints = { blob: 'https://contoso.blob.core.usgovcloudapi.net/' };
  return {
    lookups: {
      'azure-native:storage:getStorageAccount': () => ({
        id: ACCOUNT_ID,
        name: 'contoso',
        primaryEndpoints: endpoints,
        ...account,
      }),
      'azure-native:storage:getBlobServiceProperties': () => blobs,
    },
  };
}

describe.each([true, false])('CheckpointStore, preview %s', (preview) => {
  it('has an account of its own, without keys, without public blobs', async () => {
    const store = await run({}, { preview });
    expect(store.named('usage-account').inputs).toEqual({
      resourceGroupName: GROUP,
      accountName: expect.stringMatching(/^usage[0-9a-f]{8}$/),
      kind: 'StorageV2',
      sku: { name: 'Standard_ZRS' },
      allowSharedKeyAccess: false,
      allowBlobPublicAccess: false,
      allowCrossTenantReplication: false,
      defaultToOAuthAuthentication: true,
      enableHttpsTrafficOnly: true,
      minimumTlsVersion: 'TLS1_2',
    });
    // Not even as false: Azure may refuse that of an account that exists.
    expect(store.named('usage-account').inputs).not.toHaveProperty('isHnsEnabled');
    expect(store.named('usage-container').inputs).toMatchObject({ containerName: 'chargeonce', publicAccess: 'None' });
    expect(store.resources).toHaveLength(4);
  });

  it('says that all is off which keeps what was overwritten', async () => {
    const store = await run({}, { preview });
    expect(store.named('usage-blob-settings').inputs).toMatchObject({ blobServicesName: 'default', ...ALL_OFF });
  });

  it('keeps account and container', async () => {
    const store = await run({}, { preview });
    for (const name of ['usage-account', 'usage-blob-settings', 'usage-container']) {
      expect(store.named(name)).toMatchObject({ protect: true, retainOnDelete: true });
    }
    expect(store.named('usage-account').replaceOnChanges).toEqual(['kind', 'sku.name']);
  });

  it('tells a worker where its container is', async () => {
    const { result } = await run({}, { preview });
    expect(await knownValues({ ...result.connectionEnvironment, name: result.containerName })).toEqual({
      CHECKPOINT_CONTAINER_URL: preview
        ? undefined
        : expect.stringMatching(/^https:\/\/usage[0-9a-f]{8}\.blob\.core\.windows\.net\/chargeonce$/),
      name: 'chargeonce',
    });
  });

  it('grants on the container alone', async () => {
    const store = await runProgram(
      () => {
        const made = new CheckpointStore('usage', { resourceGroupName: GROUP });
        made.grantCheckpoint('worker', PRINCIPAL);
        made.grantRead('scaler', PRINCIPAL);
      },
      { preview },
    );
    const roles = { worker: 'ba92f5b4-2d11-453d-a403-e96b0029c9fe', scaler: '2a2b9908-6ea1-4ae2-8e65-a410df84e7d1' };
    for (const [name, role] of Object.entries(roles)) {
      expect(store.named(name).inputs).toMatchObject({
        principalId: PRINCIPAL,
        principalType: 'ServicePrincipal',
        roleDefinitionId: `/providers/Microsoft.Authorization/roleDefinitions/${role}`,
        ...(preview ? {} : { scope: expect.stringMatching(/\/blobServices\/default\/containers\/chargeonce$/) }),
      });
    }
  });

  it('takes an account that is made elsewhere, in whichever cloud and group, and makes only the container', async () => {
    const store = await run(
      { existingAccount: { ...existing, resourceGroupName: 'rg-storage' } },
      { preview, ...looksUp() },
    );
    expect(store.resources.map((each) => each.name)).toEqual(['usage', 'usage-container']);
    expect(store.named('usage-container').inputs).toMatchObject({
      resourceGroupName: 'rg-storage',
      accountName: 'contoso',
    });
    expect(await knownValues(store.result.connectionEnvironment)).toEqual({
      CHECKPOINT_CONTAINER_URL: 'https://contoso.blob.core.usgovcloudapi.net/chargeonce',
    });
    expect(store.result.account).toBeUndefined();
  });

  it.each<[string, Values, Values]>([
    ['existingAccount is an account with a hierarchical namespace', { isHnsEnabled: true }, ALL_OFF],
    ['isVersioningEnabled is switched on', {}, { ...ALL_OFF, isVersioningEnabled: true }],
    ['deleteRetentionPolicy is switched on', {}, { ...ALL_OFF, deleteRetentionPolicy: { enabled: true, days: 7 } }],
    ['containerDeleteRetentionPolicy is', {}, { ...ALL_OFF, containerDeleteRetentionPolicy: { enabled: true } }],
    [
      'changeFeed, restorePolicy is',
      {},
      { ...ALL_OFF, changeFeed: { enabled: true }, restorePolicy: { enabled: true } },
    ],
  ])('refuses an existing account: %s', async (words, account, blobs) => {
    const refusal = run({ existingAccount: existing }, { preview, ...looksUp(account, blobs) });
    await expect(refusal).rejects.toThrow(`[CheckpointStore usage] ${words}`);
  });
});

describe('CheckpointStore', () => {
  it('takes an existing account whose settings Azure leaves out, which means off', async () => {
    await run({ existingAccount: existing }, looksUp({}, {}));
  });

  it.each<[string, Values]>([
    ['isVersioningEnabled', { isVersioningEnabled: true }],
    ['deleteRetentionPolicy', { deleteRetentionPolicy: { enabled: true, days: 7 } }],
    ['containerDeleteRetentionPolicy', { containerDeleteRetentionPolicy: { enabled: true, days: 7 } }],
    ['changeFeed', { changeFeed: { enabled: true } }],
    ['restorePolicy', { restorePolicy: { enabled: true, days: 6 } }],
  ])('refuses that a transform switches on %s', (setting, switched) => {
    const change = (to: Values) => () => refuseBlobSettings({ name: 'usage-blob-settings', from: ALL_OFF, to });
    expect(change({ ...ALL_OFF, ...switched })).toThrow(`${setting} is switched on; allowed: off.`);
    expect(change(ALL_OFF)).not.toThrow();
  });

  it('is asked before the engine makes or changes the settings', async () => {
    expect((await run()).named('usage-blob-settings').hooks).toEqual(['usage-blob-settings']);
  });

  it.each([
    ['$Default', 'default'],
    ['Billing.EU', 'billing-eu'],
    ['a', 'checkpoints-a'],
    ['__', 'checkpoints'],
    ['x'.repeat(50), 'x'.repeat(50)],
  ])('names the container of the group %s %s', async (consumerGroupName, container) => {
    expect((await run({ consumerGroupName })).named('usage-container').inputs.containerName).toBe(container);
  });

  const ACCOUNT = ['usage-account'];
  const ALL = ['usage-account', 'usage-blob-settings', 'usage-container'];
  const matters: Record<keyof CheckpointStoreArgs, [Partial<CheckpointStoreArgs>, string[]]> = {
    resourceGroupName: [{ resourceGroupName: 'rg-other' }, ALL],
    tags: [{ tags: { team: 'billing' } }, ACCOUNT],
    accountName: [{ accountName: 'contosopoints' }, ALL],
    sku: [{ sku: 'Premium_ZRS' }, ACCOUNT],
    consumerGroupName: [{ consumerGroupName: 'billing' }, ['usage-container']],
    containerName: [{ containerName: 'points' }, ['usage-container']],
    allowedSubnetIds: [{ allowedSubnetIds: [SUBNET] }, ACCOUNT],
    existingAccount: [{ existingAccount: existing }, ALL],
    protect: [{ protect: false }, ALL],
  };
  it.each(Object.entries(matters))('%s changes what it says', async (_arg, [args, changed]) => {
    expect(changedResources(await run(), await run(args, looksUp()))).toEqual(changed);
  });

  it('lets in the given subnets and nobody else', async () => {
    const store = await run({ allowedSubnetIds: [SUBNET] });
    expect(store.named('usage-account').inputs.networkRuleSet).toEqual({
      defaultAction: 'Deny',
      bypass: 'None',
      virtualNetworkRules: [{ virtualNetworkResourceId: SUBNET, action: 'Allow' }],
    });
  });

  it('makes premium accounts of the kind that is', async () => {
    expect((await run({ sku: 'Premium_LRS' })).named('usage-account').inputs.kind).toBe('BlockBlobStorage');
  });

  const shared = { accountName: 'contoso', nothingElseUsesIt: false };
  const refused: readonly [string, object][] = [
    ['accountName is "Usage"; allowed: 3 to 24 lower-case letters and digits', { accountName: 'Usage' }],
    ['accountName is "ab"; allowed', { accountName: 'ab' }],
    [`accountName is "${'a'.repeat(25)}"; allowed`, { accountName: 'a'.repeat(25) }],
    ['accountName is "us-age"; allowed', { accountName: 'us-age' }],
    ['sku is "Standard_GRS"; allowed: Standard_ZRS, Standard_LRS, Premium_ZRS, Premium_LRS', { sku: 'Standard_GRS' }],
    ['containerName is "ab"; allowed: 3 to 63 lower-case', { containerName: 'ab' }],
    ['containerName is "a--b"; allowed', { containerName: 'a--b' }],
    ['containerName is "-ab"; allowed', { containerName: '-ab' }],
    [`containerName is "${'a'.repeat(64)}"; allowed`, { containerName: 'a'.repeat(64) }],
    ['consumerGroupName is "g" beside containerName "abc"', { consumerGroupName: 'g', containerName: 'abc' }],
    ['allowedSubnetIds is an empty list; allowed: ids', { allowedSubnetIds: [] }],
    ['allowedSubnetIds is "10.0.0.0/8"; allowed: ids', { allowedSubnetIds: [SUBNET, '10.0.0.0/8'] }],
    [
      'accountName is "other"; allowed: none beside existingAccount',
      { existingAccount: existing, accountName: 'other' },
    ],
    ['sku is "Standard_LRS"; allowed: none beside', { existingAccount: existing, sku: 'Standard_LRS' }],
    ['allowedSubnetIds is a list; allowed: none beside', { existingAccount: existing, allowedSubnetIds: [SUBNET] }],
    ['existingAccount.nothingElseUsesIt is false; allowed: true. Microsoft asks', { existingAccount: shared }],
    ['existingAccount.nothingElseUsesIt is not given', { existingAccount: { accountName: 'contoso' } }],
  ];
  it.each(refused)('refuses in words: %s', async (words, args) => {
    await expect(run(args, looksUp())).rejects.toThrow(`[CheckpointStore usage] ${words}`);
  });

  it('takes tags beside an account that exists: a pattern says them to every part', async () => {
    await run({ existingAccount: existing, tags: { team: 'billing' } }, looksUp());
  });
});
