import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Engine, ROOT, startEngine } from './engine';
import { OUTSIDE, SETTINGS } from './world';

const ALTERED = join(__dirname, 'programs/altered');
const POLICIES = ['--policy-pack', join(__dirname, 'policy-pack')];
const UP = ['up', '--yes', '--skip-preview'];
const APP = 'azure-native:app:ContainerApp';
const BLOBS = 'azure-native:storage:BlobServiceProperties';
const IDENTITY = 'azure-native:managedidentity:UserAssignedIdentity';
const ROLE = 'azure-native:authorization:RoleAssignment';
const PUBLISHER = '5b2f7a40-1c3e-4d55-9a60-000000000001';

type Alterations = Readonly<Record<string, object>>;

/** Another hub than the one whose events are unread. */
const OTHER_HUB: Alterations = { 'azure-native:eventhub:EventHub': { eventHubName: 'another' } };

describe('stacks/azure on the real engine', () => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await startEngine({ project: ROOT, outside: OUTSIDE });
    await engine.configure({ ...SETTINGS, meteringPrincipalId: PUBLISHER });
  }, 900_000);
  afterAll(() => engine?.stop());

  /** The stack behind a platform team's transform that overrides properties of a type. */
  const altered = async (alterations: Alterations) => {
    await engine.configure({ alterations: JSON.stringify(alterations) });
    return engine.by(ALTERED);
  };
  const rolesOf = (principalId: unknown) =>
    engine.cloud.ofType(ROLE).flatMap(({ inputs }) => (inputs.principalId === principalId ? [inputs] : []));

  it('is created in one go, the roles of the worker before the app', async () => {
    await engine.succeed('preview');
    expect(engine.cloud.all()).toEqual({});
    await engine.succeed(...UP);
    const worker = engine.cloud
      .ofType(IDENTITY)
      .find(({ inputs }) => String(inputs.resourceName).includes('worker'))?.outputs;
    const roles = rolesOf(worker?.principalId).map(({ roleAssignmentName }) => roleAssignmentName);
    // To read its key, its image, the hub, and to write checkpoints.
    expect(roles).toHaveLength(4);
    const { log } = engine.cloud;
    const before = log.slice(
      0,
      log.findIndex(({ token }) => token === APP),
    );
    expect(before.map(({ id }) => id.split('/').at(-1))).toEqual(expect.arrayContaining(roles));
  });

  it('finds nothing to do afterwards, and no policy against it', async () => {
    const said = await engine.succeed('preview', '--expect-no-changes', ...POLICIES);
    expect(said).toContain('chargeonce-billing');
  });

  it('changes in place what can be changed', async () => {
    const before = engine.cloud.log.length;
    await engine.configure({ retentionHours: '72' });
    await engine.succeed(...UP);
    const changes = engine.cloud.log.slice(before);
    expect(new Set(changes.map(({ operation }) => operation))).toEqual(new Set(['update']));
    expect(changes.map(({ token }) => token)).toContain('azure-native:eventhub:EventHub');
  });

  it('refuses another number of partitions, at preview, saying what it would do', async () => {
    await engine.configure({ partitionCount: '8' });
    expect(await engine.fail('preview')).toContain('8 for a hub that has 4');
    await engine.configure({ partitionCount: '4' });
  });

  it.each<[string, Alterations]>([
    ['the checkpoint account as a data lake', { 'azure-native:storage:StorageAccount': { isHnsEnabled: true } }],
    ['the database in another subnet', { 'azure-native:dbforpostgresql:Server': { network: {} } }],
    ['the hub under another name', OTHER_HUB],
  ])('refuses to replace what is protected: %s', async (_what, alterations) => {
    expect(await (await altered(alterations)).fail('preview')).toContain('marked for protection');
  });

  it('refuses versioning of checkpoints at preview, whoever switched it on', async () => {
    const stack = await altered({ [BLOBS]: { isVersioningEnabled: true } });
    expect(await stack.fail('preview')).toContain('isVersioningEnabled is switched on');
  });

  it('has policies that refuse what is unsafe', async () => {
    const stack = await altered({
      'azure-native:eventhub:Namespace': { disableLocalAuth: false },
      'azure-native:storage:StorageAccount': { minimumTlsVersion: 'TLS1_1', allowSharedKeyAccess: true },
    });
    const said = await stack.fail('preview', ...POLICIES);
    for (const policy of ['namespace-without-shared-keys', 'tls-1-2', 'checkpoint-account-without-shared-keys']) {
      expect(said).toContain(policy);
    }
  });

  it('finds by a refresh what was changed by hand, and sets it right', async () => {
    const { file } = engine.cloud;
    const [right] = engine.cloud.ofType(BLOBS);
    expect(right?.inputs.isVersioningEnabled).toBe(false);
    const drifted = readFileSync(file, 'utf8').replaceAll(
      '"isVersioningEnabled": false',
      '"isVersioningEnabled": true',
    );
    writeFileSync(file, drifted);
    expect(await engine.fail('preview', '--refresh', '--expect-no-changes', '--diff')).toContain('isVersioningEnabled');
    await engine.succeed('up', '--yes', '--refresh', '--skip-preview');
    expect(engine.cloud.ofType(BLOBS)).toEqual([right]);
  });

  it('is not destroyed while it is protected', async () => {
    const before = engine.cloud.all();
    expect(await engine.fail('destroy', '--yes')).toContain('because it is protected');
    expect(engine.cloud.all()).toEqual(before);
  });

  it('has a policy against taking protection off, without which anything can be replaced', async () => {
    await engine.configure({ protect: 'false' });
    expect(await engine.fail('preview', ...POLICIES)).toContain('stateful-parts-are-protected');
    await engine.succeed(...UP);
    expect(await (await altered(OTHER_HUB)).succeed('preview')).toContain('to replace');
  });

  it('is destroyed then, and comes again with the same role for who is not its own', async () => {
    const role = rolesOf(PUBLISHER);
    expect(role).toHaveLength(1);
    await engine.succeed('destroy', '--yes', '--skip-preview');
    expect(engine.cloud.all()).toEqual({});
    await engine.succeed(...UP);
    expect(rolesOf(PUBLISHER)).toEqual(role);
    await engine.succeed('destroy', '--yes', '--skip-preview');
    expect(engine.cloud.all()).toEqual({});
  });
});
