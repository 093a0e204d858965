import { beforeAll, describe, expect, it } from 'vitest';
import type { BillingConsumer } from '../../constructs/azure';
import { ROLES } from '../../constructs/azure/shared/roles';
import { at, type Change, GROUP_ID, runConsumer, runConsumers } from './consumer-program';
import { knownValue, type Registered, type Run } from './mocks';

interface IdentitySetting {
  readonly identity: string;
  readonly lifecycle: string;
}

const ROLE_NAMES = new Map<unknown, string>(
  Object.entries(ROLES).map(([name, id]) => [`/providers/Microsoft.Authorization/roleDefinitions/${id}`, name]),
);

const assignments = (run: Run<unknown>) => run.ofType('azure-native:authorization:RoleAssignment');

const lastWord = (id: unknown) => String(id).split('/').at(-1);

/** Who of a consumer may do what, and where: each in one line. */
async function mayDo(run: Run<readonly BillingConsumer[]>, index: number): Promise<string[]> {
  const who = await principals(run.result[index]);
  return assignments(run)
    .filter(({ inputs }) => who.has(inputs.principalId))
    .map(({ inputs }) => {
      const scope = String(inputs.scope).replace(`${GROUP_ID}/providers/`, '');
      return `${who.get(inputs.principalId)}: ${ROLE_NAMES.get(inputs.roleDefinitionId)} on ${scope}`;
    })
    .sort();
}

/** Names of a consumer's identities by their object ids. */
async function principals(consumer: BillingConsumer | undefined): Promise<Map<unknown, string>> {
  if (consumer === undefined) throw new Error('There is no such consumer.');
  const { identity, migratorIdentity } = consumer;
  return new Map([
    [await knownValue(identity.principalId), 'worker'],
    [await knownValue(migratorIdentity.principalId), 'migrator'],
  ]);
}

const SMALLEST = [
  expect.stringMatching(
    /^worker: Azure Event Hubs Data Receiver on Microsoft.EventHub\/namespaces\/usage-[0-9a-f]{8}\/eventhubs\/usage$/,
  ),
  'worker: Key Vault Secrets User on Microsoft.KeyVault/vaults/kv-billing/secrets/stripe-rk',
  expect.stringMatching(
    /^worker: Storage Blob Data Contributor on Microsoft.Storage\/storageAccounts\/checkpoints[0-9a-f]{8}\/blobServices\/default\/containers\/chargeonce$/,
  ),
];
const PULL = 'Microsoft.ContainerRegistry/registries/contoso';

const SHAPES: readonly [string, Change, unknown[]][] = [
  ['with an image in a registry of Azure', (args) => args, [`worker: AcrPull on ${PULL}`, ...SMALLEST]],
  [
    'when migrated by hand',
    (args) => ({ ...args, migrations: 'manual' }),
    [`migrator: AcrPull on ${PULL}`, `worker: AcrPull on ${PULL}`, ...SMALLEST],
  ],
  [
    'with a public image',
    (args) => ({ ...args, image: args.image.replace('contoso.azurecr.io', 'ghcr.io/contoso') }),
    SMALLEST,
  ],
  [
    'with a registry elsewhere',
    (args) => ({ ...args, registry: { server: 'contoso.azurecr.io', id: '/subscriptions/other/registries/contoso' } }),
    ['worker: AcrPull on /subscriptions/other/registries/contoso', ...SMALLEST],
  ],
  [
    'with a key of the stack',
    ({ stripeKeySecretUri: _uri, keyVaultId: _vault, ...args }) => ({ ...args, stripeKey: 'rk_test_4eC39H' }),
    [`worker: AcrPull on ${PULL}`, SMALLEST[0], SMALLEST[2]],
  ],
  ['when it scales', (args) => ({ ...args, maxReplicas: 4 }), [`worker: AcrPull on ${PULL}`, ...SMALLEST]],
];
const [AT_START, BY_HAND] = [0, 1];

describe('what the identities have', () => {
  let run: Run<readonly BillingConsumer[]>;
  beforeAll(async () => {
    run = await runConsumers(SHAPES.map(([, change]) => change));
  });

  it.each(SHAPES.map(([what, , allowed], index) => ({ what, allowed, index })))(
    'is this, $what',
    async ({ allowed, index }) => {
      expect(await mayDo(run, index)).toEqual(allowed);
    },
  );

  it('is the ledger’s ownership for the migrator alone', async () => {
    const owners = run.ofType('azure-native:dbforpostgresql:AdministratorsMicrosoftEntra');
    const who = await principals(run.result[AT_START]);
    const ours = owners.filter(({ name }) => name === 'charges-0-ledger-owner');
    expect(ours.map(({ inputs }) => [who.get(inputs.objectId), inputs.principalName])).toEqual([
      ['migrator', 'charges-0-migrator'],
    ]);
    expect(owners).toHaveLength(SHAPES.length);
  });

  const lifecycles = (index: number) =>
    (at(run.named(`charges-${index}-app`).inputs, 'configuration', 'identitySettings') as IdentitySetting[])
      .map(({ identity, lifecycle }) => `${lastWord(identity)} ${lifecycle}`)
      .sort();
  const identities = (name: string) =>
    (at(run.named(name).inputs, 'identity', 'userAssignedIdentities') as string[]).map(lastWord).sort();

  it('is a token of the ledger’s owner in the init container only', () => {
    expect(identities('charges-0-app')).toEqual(['charges-0-migrator', 'charges-0-worker']);
    expect(lifecycles(AT_START)).toEqual(['charges-0-migrator Init', 'charges-0-worker Main']);
    expect(identities('charges-0-ops')).toEqual(['charges-0-worker']);
  });

  it('is no token of the ledger’s owner near the app when it is migrated by hand', () => {
    expect(identities('charges-1-app')).toEqual(['charges-1-worker']);
    expect(lifecycles(BY_HAND)).toEqual(['charges-1-worker Main']);
    expect(identities('charges-1-migrate')).toEqual(['charges-1-migrator']);
  });

  it('never meets what another consumer of the same hub, store and ledger has', () => {
    const urns = run.resources.map(({ urn }) => urn);
    expect(new Set(urns).size).toBe(urns.length);
    const names = assignments(run).map(({ inputs }) => inputs.roleAssignmentName);
    expect(new Set(names).size).toBe(names.length);
  });
});

describe.each([true, false])('in a run with preview %s', (preview) => {
  let run: Run<BillingConsumer>;
  beforeAll(async () => {
    run = await runConsumer((args) => ({ ...args, migrations: 'manual' }), { preview });
  });

  it('says of each principal that it is a service principal, which Azure would not find yet otherwise', () => {
    const found = assignments(run);
    expect(found).toHaveLength(5);
    expect(found.filter(({ inputs }) => inputs.principalType !== 'ServicePrincipal')).toEqual([]);
  });

  it('makes each role, and all that the workers use, before anything runs', () => {
    const before = [
      ...['charges-consume', 'charges-checkpoint', 'charges-stripe-key', 'charges-worker-pull', 'charges-ledger-owner'],
      ...['usage-group', 'checkpoints-container', 'ledger-database', 'charges-environment', 'charges-environment-logs'],
    ];
    for (const runs of ['charges-app', 'charges-ops', 'charges-migrate']) {
      expect(waitsFor(run, run.named(runs))).toEqual(expect.arrayContaining(before));
    }
    expect(waitsFor(run, run.named('charges-migrate'))).toContain('charges-migrator-pull');
  });

  it('names each role assignment in the program by a word that is there before its principal', () => {
    const names = assignments(run).map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter((name) => !/^[a-z-]+$/.test(name))).toEqual([]);
  });
});

/** What is there before this one, by name. */
function waitsFor(run: Run<unknown>, { dependsOn }: Registered): string[] {
  const names = new Map(run.resources.map(({ urn, name }) => [urn, name]));
  return dependsOn.flatMap((urn) => names.get(urn) ?? []);
}
