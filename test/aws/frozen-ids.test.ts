/** Logical ids are public: users' overrides, imports and permissions name them. Adding one is fine, say so here. */
import { describe, expect, it } from 'vitest';
import { SHAPES } from './shapes';
import { synthesize } from './synthesis';

describe.each(Object.entries(SHAPES))('the logical ids of %s', (name, shape) => {
  it('are these', async () => {
    const lines = Object.entries(synthesize(shape).templates).flatMap(([stack, { Resources, Outputs = {} }]) => [
      ...Object.entries(Resources).map(([id, { Type }]) => `${stack} ${id} ${Type}`),
      ...Object.keys(Outputs as object).map((id) => `${stack} ${id} (output)`),
    ]);
    await expect(`${lines.sort().join('\n')}\n`).toMatchFileSnapshot(`frozen/logical-ids-${name}.txt`);
  });
});
