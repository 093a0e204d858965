import { beforeAll, describe, expect, it } from 'vitest';
import { BillingConsumer } from '../../constructs/azure';
import { ROLES } from '../../constructs/azure/shared/roles';
import { at, type Change, GROUP_ID, runConsumer, smallest } from './consumer-program';
import { type Registered, type Run, runProgram } from './mocks';

const ROLE_NAMES = new Map<unknown, string>(
  Object.entries(ROLES).map(([name, id]) => [`/providers/Microsoft.Authorization/roleDefinitions/${id}`, name]),
);

const assignments = (run: Run<unknown>) => run.ofType('azure-native:authorization:RoleAssignment');

const lastWord = (id: unknown) => String(id).split('/').at(-1);

/** Who may do what, and where: each in one line. */
function mayDo(run: Run<BillingConsumer>, principals: Readonly<Record<string, unknown>>): string[] {
  const who = new Map(Object.entries(principals).map(([name, id]) => [id, name]));
  return assignments(run)
    .map(({ inputs }) => {
      const scope = String(inputs.scope).replace(`${GROUP_ID}/providers/`, '');
      return `${who.get(inputs.principalId)}: ${ROLE_NAMES.get(inputs.roleDefinitionId)} on ${scope}`;
    })
    .sort();
}

async function principalsOf(run: Run<BillingConsumer>): Promise<Record<string, unknown>> {
  const { identity, migratorIdentity } = run.result;
  const id = (output: typeof identity.principalId) => new Promise((resolve) => output.apply(resolve));
  return { worker: await id(identity.principalId), migrator: await id(migratorIdentity.principalId) };
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

describe('all that the identities may do', () => {
  it.each<[string, Change, unknown[]]>([
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
      (args) => ({
        ...args,
        registry: { server: 'contoso.azurecr.io', id: '/subscriptions/other/registries/contoso' },
      }),
      ['worker: AcrPull on /subscriptions/other/registries/contoso', ...SMALLEST],
    ],
    [
      'with a key of the stack',
      ({ stripeKeySecretUri: _uri, keyVaultId: _vault, ...args }) => ({ ...args, stripeKey: 'rk_test_1' }),
      [`worker: AcrPull on ${PULL}`, SMALLEST[0], SMALLEST[2]],
    ],
    ['when it scales', (args) => ({ ...args, maxReplicas: 4 }), [`worker: AcrPull on ${PULL}`, ...SMALLEST]],
  ])('%s', async (_, change, allowed) => {
    const run = await runConsumer(change);
    expect(mayDo(run, await principalsOf(run))).toEqual(allowed);
  });

  it('leaves the ledger’s ownership to the migrator', async () => {
    const run = await runConsumer();
    const { migrator } = await principalsOf(run);
    const owners = run.ofType('azure-native:dbforpostgresql:AdministratorsMicrosoftEntra');
    expect(owners.map(({ inputs }) => inputs)).toMatchObject([
      { objectId: migrator, principalName: 'charges-migrator' },
    ]);
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

describe('tokens', () => {
  const lifecycles = (run: Run<unknown>) =>
    (
      at(run.named('charges-app').inputs, 'configuration', 'identitySettings') as {
        identity: string;
        lifecycle: string;
      }[]
    )
      .map(({ identity, lifecycle }) => `${lastWord(identity)} ${lifecycle}`)
      .sort();
  const identities = (run: Run<unknown>, name: string) =>
    (at(run.named(name).inputs, 'identity', 'userAssignedIdentities') as string[]).map(lastWord).sort();

  it('of the ledger’s owner are had by the init container only', async () => {
    const run = await runConsumer();
    expect(identities(run, 'charges-app')).toEqual(['charges-migrator', 'charges-worker']);
    expect(lifecycles(run)).toEqual(['charges-migrator Init', 'charges-worker Main']);
    expect(identities(run, 'charges-ops')).toEqual(['charges-worker']);
  });

  it('of the ledger’s owner never come near the app when it is migrated by hand', async () => {
    const run = await runConsumer((args) => ({ ...args, migrations: 'manual' }));
    expect(identities(run, 'charges-app')).toEqual(['charges-worker']);
    expect(lifecycles(run)).toEqual(['charges-worker Main']);
    expect(identities(run, 'charges-migrate')).toEqual(['charges-migrator']);
  });
});

it('two consumers of one hub, store and ledger do not meet', async () => {
  const run = await runProgram(() => {
    const parts = smallest();
    return [new BillingConsumer('first', parts), new BillingConsumer('second', parts)];
  });
  const urns = run.resources.map(({ urn }) => urn);
  expect(new Set(urns).size).toBe(urns.length);
  const names = assignments(run).map(({ inputs }) => inputs.roleAssignmentName);
  expect(new Set(names).size).toBe(names.length);
});
