/** What the pattern asks of Azure, resource by resource, when everything is known and when nothing is. */
import { describe, expect, it } from 'vitest';
import { runExample } from './example-stacks';
import type { Registered, Run } from './mocks';

/** As the engine writes a value that only Azure can say. */
const UNKNOWN = /04da6b54-80e4-46f7-96ec-b56ff0331ba9/g;

function shown({ resources }: Run<unknown>): object {
  const byName = [...resources].sort((a, b) => (a.urn < b.urn ? -1 : 1));
  return Object.fromEntries(
    byName.filter(({ type }) => !type.startsWith('chargeonce:')).map((each) => [each.name, resource(each)]),
  );
}

/** Without what was not said. */
function resource({ type, inputs, protect, retainOnDelete, ignoreChanges, replaceOnChanges }: Registered): object {
  return {
    type,
    ...(protect ? { protect } : {}),
    ...(retainOnDelete ? { retainOnDelete } : {}),
    ...(ignoreChanges.length > 0 ? { ignoreChanges } : {}),
    ...(replaceOnChanges.length > 0 ? { replaceOnChanges } : {}),
    inputs: inOrder(inputs),
  };
}

/** Properties in the order of the alphabet; texts of several lines as lists of lines, to be read in a diff. */
function inOrder(value: unknown): unknown {
  if (typeof value === 'string') return value.includes('\n') ? value.split('\n') : value.replace(UNKNOWN, '(unknown)');
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, inOrder(inner)]),
  );
}

describe.each([
  ['a deploy', false],
  ['the first preview', true],
] as const)('every resource of the pattern in %s', (what, preview) => {
  it('is this', async () => {
    const text = JSON.stringify(shown(await runExample('pattern', preview)), null, 2);
    await expect(`${text}\n`).toMatchFileSnapshot(`__snapshots__/pattern-${what.split(' ').at(-1)}.json.snap`);
  });
});

describe('a preview', () => {
  it('knows all that is no answer of Azure’s: names, conditions, texts', async () => {
    const preview = shown(await runExample('pattern', true));
    const deploy = shown(await runExample('pattern'));
    expect(Object.keys(preview)).toEqual(Object.keys(deploy));
    expect(JSON.stringify(preview)).toContain('(unknown)');
    expect(JSON.stringify(deploy)).not.toContain('(unknown)');
  });
});
