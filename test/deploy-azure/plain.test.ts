import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Engine, startEngine } from './engine';

const SECRET = 'sk_test_very_secret';

describe('the engine with stand-ins, on resources without components', () => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await startEngine({ project: join(__dirname, 'programs/plain'), outside: [] });
    await engine.configure({ tls: 'TLS1_2' }, { secret: SECRET });
  }, 900_000);
  afterAll(() => engine?.stop());

  it('creates what is declared, and finds nothing to do afterwards', async () => {
    expect(await engine.succeed('preview')).toContain('5 to create');
    expect(Object.keys(engine.cloud.all())).toEqual([]);
    expect(await engine.succeed('up', '--yes', '--skip-preview')).toContain('5 created');
    expect(Object.keys(engine.cloud.all())).toHaveLength(4);
    expect(await engine.succeed('preview', '--expect-no-changes')).toContain('5 unchanged');
  });
});
