import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Engine, ROOT, startEngine } from './engine';
import { OUTSIDE, SETTINGS } from './world';

const ALTERED = join(__dirname, 'programs/altered');
const POLICIES = ['--policy-pack', join(__dirname, 'policy-pack')];
const UP = ['up', '--yes', '--skip-preview'];
const ROLE = 'azure-native:authorization:RoleAssignment';
const PUBLISHER = '5b2f7a40-1c3e-4d55-9a60-000000000001';
const APP = 'azure-native:app:ContainerApp';

describe('stacks/azure on the real engine', () => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await startEngine({ project: ROOT, outside: OUTSIDE });
    await engine.configure({ ...SETTINGS, meteringPrincipalId: PUBLISHER });
  }, 900_000);
  afterAll(() => engine?.stop());

  /** What a platform team's transform would do to every resource of a type; answers what the engine says to it. */
  const altered = async (alterations: Readonly<Record<string, object>>, ...flags: readonly string[]) => {
    await engine.configure({ alterations: JSON.stringify(alterations) });
    return engine.by(ALTERED).fail('preview', ...flags);
  };
  /** Of who is not the stack's, and so the same in every life of it. */
  const publisherRole = () => engine.cloud.ofType(ROLE).find(({ inputs }) => inputs.principalId === PUBLISHER)?.inputs;
  const done = (operation: string, token: string) =>
    engine.cloud.log.flatMap((each, index) => (each.operation === operation && each.token === token ? [index] : []));

  it('is created in one go, roles before the app that needs them', async () => {
    await engine.succeed('preview');
    expect(engine.cloud.all()).toEqual({});
    await engine.succeed(...UP);
    const [app, ...others] = done('create', APP);
    expect(others).toEqual([]);
    const ofApp = engine.cloud.log.filter(
      ({ operation, token }, index) => operation === 'create' && token === ROLE && index < (app ?? 0),
    );
    expect(ofApp.length).toBeGreaterThanOrEqual(4);
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
    expect(changes.map(({ operation }) => operation)).not.toContain('delete');
    expect(changes.map(({ token }) => token)).toContain('azure-native:eventhub:EventHub');
    await engine.succeed('preview', '--expect-no-changes');
  });

  it('refuses another number of partitions, at preview, saying what it would do', async () => {
    await engine.configure({ partitionCount: '8' });
    expect(await engine.fail('preview')).toContain('8 for a hub that has 4');
    await engine.configure({ partitionCount: '4' });
  });

  it.each([
    ['the checkpoint account as a data lake', { 'azure-native:storage:StorageAccount': { isHnsEnabled: true } }],
    [
      'the checkpoint account under another name',
      { 'azure-native:storage:StorageAccount': { accountName: 'another' } },
    ],
    ['the database in another subnet', { 'azure-native:dbforpostgresql:Server': { network: {} } }],
    ['the hub under another name', { 'azure-native:eventhub:EventHub': { eventHubName: 'another' } }],
    ['the namespace in another region', { 'azure-native:eventhub:Namespace': { location: 'northeurope' } }],
  ])('refuses to replace what is protected: %s', async (_what, alterations) => {
    expect(await altered(alterations)).toContain('marked for protection');
  });

  it('refuses versioning of checkpoints at preview, whoever switched it on', async () => {
    const alterations = { 'azure-native:storage:BlobServiceProperties': { isVersioningEnabled: true } };
    expect(await altered(alterations)).toContain('isVersioningEnabled');
  });

  it('has policies that refuse what is unsafe', async () => {
    const alterations = {
      'azure-native:eventhub:Namespace': { disableLocalAuth: false },
      'azure-native:storage:StorageAccount': { minimumTlsVersion: 'TLS1_1', allowSharedKeyAccess: true },
      'azure-native:storage:BlobServiceProperties': { changeFeed: { enabled: true } },
    };
    const said = await altered(alterations, ...POLICIES);
    for (const policy of ['namespace-without-shared-keys', 'tls-1-2', 'checkpoint-account-without-shared-keys']) {
      expect(said).toContain(policy);
    }
  });

  it('finds by a refresh what was changed by hand, and sets it right', async () => {
    const { file } = engine.cloud;
    const setRight = readFileSync(file, 'utf8');
    writeFileSync(file, setRight.replaceAll('"isVersioningEnabled": false', '"isVersioningEnabled": true'));
    expect(await engine.fail('preview', '--refresh', '--expect-no-changes', '--diff')).toContain('isVersioningEnabled');
    await engine.succeed('up', '--yes', '--refresh', '--skip-preview');
    expect(readFileSync(file, 'utf8')).toBe(setRight);
  });

  it('is not destroyed while it is protected', async () => {
    const before = engine.cloud.all();
    expect(await engine.fail('destroy', '--yes')).toContain('marked for protection');
    expect(engine.cloud.all()).toEqual(before);
  });

  it('is destroyed when it says so, and comes again with the same role for its publisher', async () => {
    const role = publisherRole();
    expect(role).toBeDefined();
    await engine.configure({ protect: 'false' });
    await engine.succeed(...UP);
    await engine.succeed('destroy', '--yes', '--skip-preview');
    expect(engine.cloud.all()).toEqual({});
    await engine.succeed(...UP);
    expect(publisherRole()).toEqual(role);
    await engine.succeed('destroy', '--yes', '--skip-preview');
    expect(engine.cloud.all()).toEqual({});
  });
});
