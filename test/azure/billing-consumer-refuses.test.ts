import * as pulumi from '@pulumi/pulumi';
import { beforeAll, describe, expect, it } from 'vitest';
import { BillingConsumer, BillingEventHub, LedgerDatabase, type SpendCap } from '../../constructs/azure';
import { type Change, DIGEST, GROUP, runConsumer, SECRET_URI, smallest, VAULT_ID } from './consumer-program';
import { runProgram } from './mocks';

const withKey: Change = ({ stripeKeySecretUri: _uri, keyVaultId: _vault, ...args }) => ({
  ...args,
  stripeKey: 'rk_test_4eC39H',
});
const image =
  (reference: string): Change =>
  (args) => ({ ...args, image: reference });
const subnet = `${VAULT_ID}/../subnet`;

let networks = 0;
const ledgerInNetwork = () => {
  const network = { subnetId: 's', privateDnsZoneId: 'z' };
  return new LedgerDatabase(`private-${networks++}`, { resourceGroupName: GROUP, network });
};

/** A hub whose events no other consumer of the program charges. */
const hubAlone = () => new BillingEventHub(`alone-${networks++}`, { resourceGroupName: GROUP });

/** What is said, what is changed, and words of the error in their order. */
const REFUSED: readonly [string, Change, string[]][] = [
  [
    'an image that means latest',
    image('contoso.azurecr.io/chargeonce'),
    ['image is', 'means latest', 'image build --acr'],
  ],
  ['latest', image('contoso.azurecr.io/chargeonce:latest'), ['the tag latest and no digest', '@sha256:', '--acr']],
  ['a version', image('contoso.azurecr.io/chargeonce:1.2.3'), ['the tag 1.2.3 and no digest', '@sha256:']],
  ['a port that is no tag', image('localhost:5000/chargeonce'), ['means latest']],
  ['half a digest', image('contoso.azurecr.io/chargeonce@sha256:4e4e'), ['whose digest is none', '64 hex digits']],
  [
    'an image with a scheme',
    image(`https://contoso.azurecr.io/chargeonce@${DIGEST}`),
    ['which begins with a scheme', 'allowed: <registry>/'],
  ],
  [
    'a repository with capitals, which no registry takes',
    image(`contoso.azurecr.io/ChargeOnce@${DIGEST}`),
    ['whose repository is none (lower-case only)'],
  ],
  [
    'a registry of Azure whose name its host does not tell',
    image(`contoso-d7bmghe8hhbhc0f7.azurecr.io/chargeonce@${DIGEST}`),
    ['registry is not given', 'server: "contoso-d7bmghe8hhbhc0f7.azurecr.io"', 'az acr list'],
  ],
  ['a digest of nothing', image(`chargeonce@${DIGEST}`), ['names no registry', '<registry>/']],
  ['an image that is an output', (args) => ({ ...args, image: pulumi.output('x') as never }), ['image is an Output']],
  [
    'another registry than the image’s',
    (args) => ({ ...args, registry: { server: 'fabrikam.azurecr.io', id: 'x' } }),
    ['registry.server is "fabrikam.azurecr.io"', 'allowed: "contoso.azurecr.io"'],
  ],
  [
    'no key',
    ({ stripeKeySecretUri: _uri, keyVaultId: _vault, ...args }) => args,
    ['stripeKey is not given', 'stripeKeySecretUri with keyVaultId, or stripeKey alone', 'rk_'],
  ],
  [
    'a URI without its vault',
    ({ keyVaultId: _vault, ...args }) => args,
    ['keyVaultId is not given beside stripeKeySecretUri', 'az keyvault show --name kv-billing'],
  ],
  [
    'a key twice',
    (args) => ({ ...args, stripeKey: 'rk_test_4eC39H' }),
    ['given as stripeKeySecretUri and keyVaultId and stripeKey;'],
  ],
  [
    'a URI that names no secret',
    (args) => ({ ...args, stripeKeySecretUri: 'https://kv-billing.vault.azure.net/keys/stripe-rk' }),
    ['stripeKeySecretUri is "https://kv-billing.vault.azure.net/keys/stripe-rk"', '/secrets/<name>'],
  ],
  [
    'a URI of another vault',
    (args) => ({ ...args, stripeKeySecretUri: SECRET_URI.replace('kv-billing', 'kv-other') }),
    ['keyVaultId is', 'the vault kv-other', 'az keyvault show --name kv-other'],
  ],
  [
    'a vault by its name',
    (args) => ({ ...args, keyVaultId: 'kv-billing' }),
    ['keyVaultId is "kv-billing"', 'resource id'],
  ],
  [
    'no cap',
    ({ spendCap: _cap, ...args }) => args as never,
    ['spendCap is not given', "{ perPeriod: { usd: 50_000_00 } }, or 'off'", 'no default'],
  ],
  ['a cap as a word', (args) => ({ ...args, spendCap: 'none' as SpendCap }), ['spendCap is "none"']],
  [
    'a cap without a currency',
    (args) => ({ ...args, spendCap: { perPeriod: {} } }),
    ['spendCap is', 'names no currency'],
  ],
  [
    'a cap that is an output',
    (args) => ({ ...args, spendCap: pulumi.output({ perPeriod: { usd: 1 } }) as never }),
    ['spendCap is an Output, which is known at deploy only; allowed: {'],
  ],
  [
    'an amount that is an output',
    (args) => ({ ...args, spendCap: { perPeriod: { usd: pulumi.output(1) as never } } }),
    ['spendCap is an Output, which is known at deploy only; allowed: {'],
  ],
  ['half a cent', (args) => ({ ...args, spendCap: { perPeriod: { usd: 0.5 } } }), ['cap of usd is 0.5', 'from 1']],
  ['a mode', (args) => ({ ...args, stripeMode: 'prod' as never }), ['stripeMode is "prod"', 'test or live']],
  ['no replica', (args) => ({ ...args, minReplicas: 0 }), ['minReplicas is 0', 'from 1 to 4', 'expire unread']],
  [
    'more replicas than partitions',
    (args) => ({ ...args, minReplicas: 5 }),
    ['minReplicas is 5', '1 to 4', 'would idle'],
  ],
  [
    'scaling beyond the partitions',
    (args) => ({ ...args, maxReplicas: 5 }),
    ['maxReplicas is 5', '2 to 4', 'would idle'],
  ],
  [
    'fewer at most than at least',
    (args) => ({ ...args, minReplicas: 3, maxReplicas: 2 }),
    ['maxReplicas is 2', '3 to 4'],
  ],
  ['half a replica', (args) => ({ ...args, minReplicas: 1.5 }), ['minReplicas is 1.5', 'whole numbers']],
  ['no rate', (args) => ({ ...args, stripeMaxRps: 0 }), ['stripeMaxRps is 0', '4 tasks that can run at once']],
  ['cores between two sizes', (args) => ({ ...args, cpu: 0.3 }), ['cpu is 0.3', 'steps of 0.25']],
  ['more cores than there are', (args) => ({ ...args, cpu: 4.25 }), ['cpu is 4.25', '0.25 to 4']],
  ['memory of another pair', (args) => ({ ...args, memory: '2Gi' }), ['memory is 2Gi', 'with cpu 0.5: 1Gi']],
  ['memory in another unit', (args) => ({ ...args, memory: '1024Mi' }), ['memory is 1024Mi', '1Gi']],
  [
    'migrations',
    (args) => ({ ...args, migrations: 'never' as never }),
    ['migrations is "never"', 'at-start or manual'],
  ],
  [
    'a subnet for an environment that is there',
    (args) => ({ ...args, managedEnvironmentId: 'e', environmentSubnetId: subnet }),
    ['environmentSubnetId is given', 'without managedEnvironmentId'],
  ],
  [
    'a table of its own environment',
    (args) => ({ ...args, logTable: 'ContainerAppConsoleLogs_CL' }),
    ['logTable is "ContainerAppConsoleLogs_CL"', 'beside managedEnvironmentId'],
  ],
  [
    'a ledger that is reached from its network only, and no subnet there',
    (args) => ({ ...args, ledger: ledgerInNetwork() }),
    ['environmentSubnetId is not given', 'Microsoft.App/environments', 'managedEnvironmentId', 'names no subnet'],
  ],
  ['logs for a week', (args) => ({ ...args, logRetentionDays: 7 }), ['logRetentionDays is 7', '30 to 730']],
  [
    'the key in the environment',
    (args) => ({ ...args, environment: { STRIPE_API_KEY: 'x' } }),
    ['a map with STRIPE_API_KEY'],
  ],
  [
    'a setting that no container can have',
    (args) => ({ ...args, environment: { '1 NAME': 'x' } }),
    ['a map with 1 NAME', 'no digit first'],
  ],
];

const TAKEN: readonly [string, Change][] = [
  ['the smallest', (args) => args],
  ['a key of the stack', withKey],
  ['a version of the secret', (args) => ({ ...args, stripeKeySecretUri: `${SECRET_URI}/${'0a'.repeat(16)}` })],
  ['a vault in other letters', (args) => ({ ...args, keyVaultId: VAULT_ID.replace('kv-billing', 'KV-Billing') })],
  ['a public image', image(`ghcr.io/contoso/chargeonce@${DIGEST}`)],
  ['a tag beside the digest', image(`contoso.azurecr.io/chargeonce:1.2.3@${DIGEST}`)],
  ['a path in the registry', image(`contoso.azurecr.io/team-a/billing__x/charge.once@${DIGEST}`)],
  [
    'a registry of Azure that is told',
    (args) => ({
      ...args,
      image: `contoso-d7bmghe8hhbhc0f7.azurecr.io/chargeonce@${DIGEST}`,
      registry: { server: 'contoso-d7bmghe8hhbhc0f7.azurecr.io', id: 'r' },
    }),
  ],
  ['settings that Container Apps takes', (args) => ({ ...args, environment: { LOG_LEVEL: 'debug', '_a.b-c': 'x' } })],
  ['a registry at a port', image(`localhost:5000/chargeonce@${DIGEST}`)],
  ['one replica', (args) => ({ ...args, minReplicas: 1 })],
  ['a replica for each partition', (args) => ({ ...args, minReplicas: 4 })],
  ['memory as Azure writes it', (args) => ({ ...args, memory: '1.0Gi' })],
  ['the largest', (args) => ({ ...args, cpu: 4, memory: '8Gi' })],
  ['an environment that is there', (args) => ({ ...args, managedEnvironmentId: 'e', workspaceId: 'w' })],
  [
    'a ledger in its network and an environment that reaches it',
    (args) => ({ ...args, eventHub: hubAlone(), ledger: ledgerInNetwork(), managedEnvironmentId: 'e' }),
  ],
  [
    'a ledger in its network and a subnet that reaches it',
    (args) => ({ ...args, eventHub: hubAlone(), ledger: ledgerInNetwork(), environmentSubnetId: 's' }),
  ],
];

/** What each change comes to, in one run: the error's text, or nothing. */
async function verdicts(changes: readonly Change[]): Promise<string[]> {
  const run = await runProgram(() => {
    const parts = smallest();
    return changes.map((change, index) => {
      try {
        new BillingConsumer(`charges-${index}`, change(parts));
        return 'taken';
      } catch (error) {
        return (error as Error).message;
      }
    });
  });
  return run.result;
}

describe('a consumer', () => {
  let refused: readonly string[];
  let taken: readonly string[];
  beforeAll(async () => {
    refused = await verdicts(REFUSED.map(([, change]) => change));
    taken = await verdicts(TAKEN.map(([, change]) => change));
  });

  it.each(REFUSED.map(([what, , words], index) => ({ what, words, index })))('refuses $what', ({ words, index }) => {
    const message = refused[index] ?? '';
    expect(message).toContain(`[BillingConsumer charges-${index}] `);
    let from = 0;
    for (const word of words) {
      expect(message.slice(from)).toContain(word);
      from = message.indexOf(word, from) + word.length;
    }
  });

  it.each(TAKEN.map(([what], index) => ({ what, index })))('takes $what', ({ index }) => {
    expect(taken[index]).toBe('taken');
  });

  it.each(['charges.eu', '1-charges', 'rds-charges', 'a'.repeat(41)])('refuses the name %s', async (name) => {
    const program = () => new BillingConsumer(name, smallest());
    await expect(runProgram(program)).rejects.toThrow(/name is ".*letters, digits and hyphens, and not rds first/);
  });

  it('says all that is wrong at once, before anything is made', async () => {
    const all = { image: 'a', cpu: 9, minReplicas: 0, spendCap: '' as never };
    const refused: string[] = [];
    const run = await runProgram(() => {
      try {
        new BillingConsumer('charges', { ...smallest(), ...all });
      } catch (error) {
        refused.push((error as Error).message);
      }
    });
    expect(refused.join().split('\n')).toEqual(
      ['image', 'spendCap', 'minReplicas', 'cpu'].map((prop) =>
        expect.stringMatching(new RegExp(`^\\[BillingConsumer charges\\] ${prop} is `)),
      ),
    );
    expect(run.resources.filter(({ name }) => name.startsWith('charges'))).toEqual([]);
  });

  it('refuses a rate in words that Pulumi prints as they are', async () => {
    const refused = await runConsumer((args) => ({ ...args, stripeMaxRps: 0 })).catch((error: unknown) => error);
    expect(pulumi.RunError.isInstance(refused)).toBe(true);
    expect(refused).not.toHaveProperty('stack');
  });

  it('refuses a secret that is an output as soon as it is known, in a preview too', async () => {
    const change: Change = (args) => ({ ...args, stripeKeySecretUri: pulumi.output('https://example.test/stripe') });
    for (const preview of [true, false]) {
      await expect(runConsumer(change, { preview })).rejects.toThrow(
        'stripeKeySecretUri is "https://example.test/stripe"',
      );
    }
  });

  it('charges the events of a hub into one ledger, whoever reads it', async () => {
    const another: Change = (args) => ({ ...args, ledger: ledgerInNetwork(), environmentSubnetId: 's' });
    const [first, same, other] = await verdicts([(args) => args, (args) => args, another]);
    expect([first, same]).toEqual(['taken', 'taken']);
    expect(other).toMatch(/ledger is another one .*; allowed: the same ledger\. .*charged again in the other/);
    // Alone, the very same arguments are right.
    expect(await verdicts([another])).toEqual(['taken']);
  });

  it('counts the partitions of the hub it is given', async () => {
    const change: Change = (args) => ({
      ...args,
      eventHub: new BillingEventHub('wide', { resourceGroupName: GROUP, partitionCount: 8 }),
      minReplicas: 8,
    });
    expect(await verdicts([change])).toEqual(['taken']);
  });
});
