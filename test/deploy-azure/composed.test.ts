import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Engine, startEngine } from './engine';
import { OUTSIDE, SETTINGS } from './world';

const KEY = 'rk_test_that_nobody_may_read';

describe('stacks/azure/composed.ts on the real engine', () => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await startEngine({ project: join(__dirname, 'programs/composed'), outside: OUTSIDE });
    await engine.configure(
      { resourceGroupName: SETTINGS.resourceGroupName ?? '', protect: 'false' },
      { stripeKey: KEY },
    );
  }, 900_000);
  afterAll(() => engine?.stop());

  it('is created in one go, and finds nothing to do afterwards', async () => {
    await engine.succeed('preview');
    await engine.succeed('up', '--yes', '--skip-preview');
    await engine.succeed('preview', '--expect-no-changes', '--refresh');
  });

  it('keeps the Stripe key nowhere in the clear', () => {
    expect(engine.kept()).toContain('PGSSLMODE');
    expect(engine.kept()).not.toContain(KEY);
    expect(engine.said()).not.toContain(KEY);
  });

  it('leaves nothing', async () => {
    await engine.succeed('destroy', '--yes', '--skip-preview');
    expect(engine.cloud.all()).toEqual({});
  });
});
