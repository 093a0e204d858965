import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Engine, ROOT, startEngine } from './engine';
import { OUTSIDE, SETTINGS } from './world';

describe('stacks/azure on the real engine', () => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await startEngine({ project: ROOT, outside: OUTSIDE });
    await engine.configure(SETTINGS);
  }, 900_000);
  afterAll(() => engine?.stop());

  it('previews', async () => {
    expect(await engine.succeed('preview')).toContain('to create');
  });
  it('ups', async () => {
    expect(await engine.succeed('up', '--yes', '--skip-preview')).toContain('created');
  });
});
