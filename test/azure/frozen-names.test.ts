/**
 * Names and types of resources, and of the components above them, make up a resource's URN: whoever renames one deletes
 * and creates it. Adding one is fine, say so here; a changed line needs an alias.
 */
import { describe, expect, it } from 'vitest';
import { EXAMPLE_STACKS, runExample } from './example-stacks';
import type { Registered, Run } from './mocks';

/** As the engine writes it, which Pulumi's mocks do not: all types above, from the outermost, and the name. */
function lines({ resources }: Run<unknown>): string[] {
  const byUrn = new Map(resources.map((each) => [each.urn, each]));
  const typesOf = (each: Registered | undefined): string[] =>
    each === undefined ? [] : [...typesOf(byUrn.get(each.parent)), each.type.replace('azure-native:', '')];
  return resources.map((each) => `${typesOf(each).join(' > ')} ${each.name}`).sort();
}

describe.each(EXAMPLE_STACKS)('the names of %s', (stack) => {
  it('are these, in a preview and in a deploy', async () => {
    const run = await runExample(stack);
    expect(lines(await runExample(stack, true))).toEqual(lines(run));
    await expect(`${lines(run).join('\n')}\n`).toMatchFileSnapshot(`frozen/names-${stack}.txt`);
  });

  it('are each there once: a URN is one resource', async () => {
    const all = lines(await runExample(stack));
    expect(new Set(all).size).toBe(all.length);
  });
});

describe('this test', () => {
  it('would see another name, another type and another parent', async () => {
    const run = await runExample('pattern');
    const before = lines(run);
    const at = run.resources.findIndex(({ name }) => name === 'usage-hub-hub');
    const changes: Partial<Registered>[] = [
      { name: 'usage-hub-events' },
      { type: 'other:eventhub:EventHub' },
      { parent: '' },
    ];
    for (const change of changes) {
      const resources = run.resources.map((each, index) => (index === at ? { ...each, ...change } : each));
      expect(lines({ ...run, resources })).not.toEqual(before);
    }
  });
});
