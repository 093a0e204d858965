import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Engine, startEngine } from './engine';

const PROJECT = join(__dirname, 'programs/plain');
const SECRET = 'sk_test_that_nobody_may_read';
const OPEN = 'what-anybody-may-read';

describe('the engine with the stand-ins, on resources without components', () => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await startEngine({ project: PROJECT, outside: [] });
    await engine.configure({ open: OPEN }, { secret: SECRET });
  }, 900_000);
  afterAll(() => engine?.stop());

  it('creates what is declared, and finds nothing to do afterwards', async () => {
    expect(await engine.succeed('preview')).toContain('5 to create');
    expect(Object.keys(engine.cloud.all())).toEqual([]);
    expect(await engine.succeed('up', '--yes', '--skip-preview')).toContain('5 created');
    expect(Object.keys(engine.cloud.all())).toHaveLength(4);
    expect(await engine.succeed('preview', '--expect-no-changes')).toContain('5 unchanged');
  });

  it('keeps a secret nowhere in the clear, where what is no secret is found', () => {
    const state = engine.kept().replace(readFileSync(engine.cloud.file, 'utf8'), '');
    expect(state).toContain(OPEN);
    expect(state).not.toContain(SECRET);
    expect(engine.said()).not.toContain(SECRET);
  });

  it('refuses at preview a value that the compiler takes and Azure does not know', async () => {
    await engine.configure({ tls: '1.2' });
    expect(await engine.fail('preview')).toContain(
      'minimumTlsVersion is 1.2; it must be one of TLS1_0, TLS1_1, TLS1_2, TLS1_3',
    );
    await engine.configure({ tls: 'TLS1_2' });
  });

  it('refuses at preview a type that nobody has described to it', async () => {
    await engine.configure({ unknownType: 'true' });
    expect(await engine.fail('preview')).toContain('does not know azure-native:mystery:Thing');
    await engine.configure({ unknownType: 'false' });
  });

  it('lets a change through a preview that only Azure refuses, as the real provider does', async () => {
    await engine.configure({ partitions: '8' });
    expect(await engine.succeed('preview')).toContain('1 to update');
    expect(await engine.fail('up', '--yes', '--skip-preview')).toContain('PropertyChangeNotAllowed: partitionCount');
    await engine.configure({ partitions: '4' });
  });

  it('replaces a resource whose name changes', async () => {
    await engine.configure({ hub: 'other' });
    expect(await engine.succeed('preview')).toContain('1 to replace');
    await engine.configure({ hub: 'hub' });
  });

  it('finds by a refresh what was changed by hand, and by nothing else', async () => {
    const { file } = engine.cloud;
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll('TLS1_2', 'TLS1_0'));
    await engine.succeed('preview', '--expect-no-changes');
    expect(await engine.fail('preview', '--refresh', '--expect-no-changes', '--diff')).toContain('TLS1_0');
  });

  it('asks nobody outside, where it would if it looked for a newer version', async () => {
    expect(engine.askedOutside).toEqual([]);
    await engine.by(PROJECT, { PULUMI_SKIP_UPDATE_CHECK: 'false' }).succeed('preview');
    expect(engine.askedOutside).not.toEqual([]);
  });

  it('leaves nothing', async () => {
    expect(await engine.succeed('destroy', '--yes', '--skip-preview')).toContain('5 deleted');
    expect(engine.cloud.all()).toEqual({});
  });
});
