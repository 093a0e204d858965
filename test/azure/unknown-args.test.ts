/** Arguments that a component does not read, which types let pass in a spread and in plain JavaScript. */
import * as pulumi from '@pulumi/pulumi';
import { describe, expect, it } from 'vitest';
import {
  BillingConsumer,
  BillingEventHub,
  BillingMonitoring,
  CheckpointStore,
  EventHubsBilling,
  LedgerDatabase,
} from '../../constructs/azure';
import { GROUP, IMAGE, SECRET_URI, VAULT_ID } from './consumer-program';
import { runProgram } from './mocks';

const GOOD = {
  resourceGroupName: GROUP,
  image: IMAGE,
  stripeKeySecretUri: SECRET_URI,
  keyVaultId: VAULT_ID,
  spendCap: 'off' as const,
  alertEmails: ['billing-oncall@contoso.com'],
};

/** What the program is refused with, and how many resources there were by then. */
async function refused(program: () => unknown): Promise<{ lines: string[]; made: number }> {
  let thrown: unknown;
  const run = await runProgram(() => {
    try {
      program();
    } catch (error) {
      thrown = error;
    }
  });
  expect(pulumi.RunError.isInstance(thrown), String(thrown)).toBe(true);
  return {
    lines: (thrown as Error).message.split('\n'),
    made: run.resources.filter(({ type }) => type.startsWith('azure-native:')).length,
  };
}
const pattern = (more: object) => refused(() => new EventHubsBilling('usage', { ...GOOD, ...more }));

describe('the pattern', () => {
  it.each([
    ['an argument of a part', { partitionCount: 8 }, 'partitionCount', 'Did you mean eventHub: { partitionCount: … }?'],
    ['a misspelt one', { alertEmail: ['a@b.c'] }, 'alertEmail', 'Did you mean alertEmails?'],
    ['one of nobody', { location: 'westeurope' }, 'location', 'Leave it out.'],
    [
      'a misspelt one of a part',
      { eventHub: { partitionsCount: 8 } },
      'eventHub.partitionsCount',
      'Did you mean partitionCount?',
    ],
    ['one of nobody in a part', { checkpointStore: { colour: 'x' } }, 'checkpointStore.colour', 'nothing reads it'],
    ['a misspelt one of the ledger', { ledger: { skuname: 'x' } }, 'ledger.skuname', 'Did you mean skuName?'],
    ['a name for a hub', { eventHub: 'usage' }, 'eventHub', 'allowed: a BillingEventHub, or an object'],
    ['a list for a ledger', { ledger: [] }, 'ledger', 'is a list; allowed: a LedgerDatabase, or an object'],
    ['null for a store', { checkpointStore: null }, 'checkpointStore', 'is null'],
    ['a number for a text', { environment: { MAX_CONCURRENT_CHARGES: 5 } }, 'environment', "Write '5'."],
    ['a word that no worker knows', { environment: { LOG_LEVEL: 'verbose' } }, 'environment.LOG_LEVEL', 'debug | info'],
    [
      'a mode that no worker has',
      { environment: { CHECKPOINT_MODE: 'often' } },
      'environment.CHECKPOINT_MODE',
      'batch',
    ],
    [
      'a number that is none',
      { environment: { MAX_CONCURRENT_CHARGES: 'abc' } },
      'environment.MAX_CONCURRENT_CHARGES',
      'is "abc"; allowed: charges, a whole number from 1 to 1000',
    ],
    [
      'a currency in words',
      { environment: { DEFAULT_CURRENCY: 'dollars' } },
      'environment.DEFAULT_CURRENCY',
      'is "dollars"; allowed: a three-letter ISO currency code',
    ],
    ['a yes or no in quotes', { protect: 'false' }, 'protect', 'is "false"; allowed: true or false'],
    ['tags as a text', { tags: 'a=b' }, 'tags', 'is "a=b"; allowed: an object'],
    [
      'cores in quotes',
      { cpu: '0.5' },
      'cpu',
      'is "0.5"; allowed: a number from 0.25 to 4. Write the number without quotes',
    ],
    ['replicas in quotes', { minReplicas: '2' }, 'minReplicas', 'is "2"; allowed: numbers from 1 to 4. Write'],
    ['an action group that is no list', { actionGroupIds: 'x' }, 'actionGroupIds', 'allowed: a list'],
    ['a tier in small letters', { eventHub: { sku: 'standard' } }, 'eventHub.sku', 'It is spelt Standard.'],
    [
      'a digest in capitals',
      { image: IMAGE.replace(/4e/g, '4E') },
      'image',
      'whose digest has capitals (lower-case only)',
    ],
    [
      'a secret without its vault',
      { keyVaultId: undefined },
      'keyVaultId',
      'az keyvault show --name kv-billing --query id --output tsv prints it.',
    ],
    [
      'a vault as docs print it',
      { keyVaultId: '/subscriptions/…/vaults/kv-billing' },
      'keyVaultId',
      '/subscriptions/<id>/resourceGroups/<group>/providers/Microsoft.KeyVault/vaults/kv-billing',
    ],
    ['one address that is no list', { alertEmails: 'a@b.c' }, 'alertEmails', 'allowed: a list'],
    [
      'a plain key that is none',
      { stripeKey: 'sk_live_', stripeKeySecretUri: undefined, keyVaultId: undefined },
      'stripeKey',
      'no secret key',
    ],
  ])('refuses %s, before anything is made', async (_, more, prop, words) => {
    const { lines, made } = await pattern(more);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(`[EventHubsBilling usage] ${prop} is `);
    expect(lines[0]).toContain(words);
    expect(made).toBe(0);
  });

  it('says how long its own name may be, not a part’s', async () => {
    const named = (name: string) => refused(() => new EventHubsBilling(name, GOOD));
    const { lines } = await named('a'.repeat(32));
    expect(lines).toEqual([expect.stringContaining('name is "aaa')]);
    expect(lines[0]).toContain('allowed: a letter, then up to 30 letters, digits and hyphens, and not rds first');
    const longest = 'a'.repeat(31);
    const run = await runProgram(() => new EventHubsBilling(longest, GOOD));
    expect(run.named(`${longest}-consumer`)).toBeDefined();
  });

  it('takes what is not given', async () => {
    const run = await runProgram(() => new EventHubsBilling('usage', { ...GOOD, location: undefined } as never));
    expect(run.ofType('azure-native:eventhub:EventHub')).toHaveLength(1);
  });
});

describe.each<[string, new (name: string, args: never) => unknown]>([
  ['BillingEventHub', BillingEventHub],
  ['CheckpointStore', CheckpointStore],
  ['LedgerDatabase', LedgerDatabase],
  ['BillingConsumer', BillingConsumer],
  ['BillingMonitoring', BillingMonitoring],
])('%s', (name, component) => {
  it('refuses what it does not read, and what is common to all may be said to it', async () => {
    const common = { resourceGroupName: GROUP, tags: {}, protect: false, workspaceId: '/w' };
    const { lines } = await refused(() => new component('usage', { ...common, colour: 'red' } as never));
    const said = lines.filter((line) => line.includes('nothing reads it'));
    expect(said).toHaveLength(1);
    expect(said[0]).toContain(
      `[${name} usage] colour is given, and nothing reads it; allowed: resourceGroupName, tags`,
    );
  });

  it.each([
    ['an id', '/subscriptions/s/resourceGroups/billing', 'Give its name alone'],
    ['a resource', 'resource', 'Give its name: `resourceGroup.name`.'],
  ])('refuses %s in place of a resource group’s name', async (_, given, words) => {
    const { lines } = await refused(() => {
      const group = given === 'resource' ? new pulumi.ComponentResource('test:Group', 'group') : given;
      new component('usage', { resourceGroupName: group } as never);
    });
    expect(lines[0]).toContain('resourceGroupName is ');
    expect(lines[0]).toContain(words);
  });
});

describe('other words that cannot be meant', () => {
  it('a principal that is no UUID, as when the arguments change places', async () => {
    const id = '00000000-0000-4000-8000-000000000001';
    const { lines } = await refused(() =>
      new BillingEventHub('usage', { resourceGroupName: GROUP }).grantPublish(id, 'metering'),
    );
    expect(lines[0]).toContain('principalId is "metering"; allowed: the object id of an identity, a UUID.');
  });

  it('a second store for the consumer group of one hub', async () => {
    const { lines } = await refused(() => {
      const common = { resourceGroupName: GROUP };
      const [eventHub, ledger] = [new BillingEventHub('hub', common), new LedgerDatabase('ledger', common)];
      const { alertEmails: _, ...args } = GOOD;
      for (const name of ['one', 'two']) {
        const checkpointStore = new CheckpointStore(name, common);
        new BillingConsumer(`consumer-${name}`, { ...args, eventHub, ledger, checkpointStore });
      }
    });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('checkpointStore is another one than that of a consumer of the same eventHub');
  });

  it.each([
    ['13', 'existing is a server of PostgreSQL 13; allowed: 14 or later.'],
    ['17', undefined],
    [undefined, undefined],
  ])('an existing server of version %s', async (version, words) => {
    const answer = {
      ...{ id: '/s/server', name: 'server', fullyQualifiedDomainName: 'server.example' },
      ...{ version, authConfig: { activeDirectoryAuth: 'Enabled' }, network: {} },
    };
    const program = runProgram(
      () => new LedgerDatabase('ledger', { resourceGroupName: GROUP, existing: { serverName: 'server' } }),
      { lookups: { 'azure-native:dbforpostgresql:getServer': () => answer } },
    );
    if (words === undefined) await expect(program).resolves.toBeDefined();
    else await expect(program).rejects.toThrow(words);
  });
});
