import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Engine, ROOT, startEngine } from './engine';

describe('stacks/azure on the real engine', () => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await startEngine({ project: ROOT, outside: [] });
  }, 900_000);
  afterAll(() => engine?.stop());

  it('previews', async () => {
    expect(await engine.succeed('preview')).toContain('5 to create');
  });
});
