import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { splitLines } from '../../../runtime/sources/publishing/lines';

async function split(chunks: readonly (string | Uint8Array)[], maxBytes = 1_000): Promise<string[]> {
  async function* source() {
    for (const chunk of chunks) yield Buffer.from(chunk);
  }
  const result: string[] = [];
  for await (const line of splitLines(source(), maxBytes)) result.push(Buffer.from(line).toString('latin1'));
  return result;
}

describe('lines', () => {
  test.each<[string[], string[]]>([
    [[], []],
    [[''], []],
    [['a'], ['a']],
    [['a\n'], ['a']],
    [['\n'], ['']],
    [['a\n\nb'], ['a', '', 'b']],
    [
      ['a', 'b', '\nc'],
      ['ab', 'c'],
    ],
    [
      ['a\n', 'b\n'],
      ['a', 'b'],
    ],
    [['a\r\n'], ['a\r']],
    [['a', '', 'b'], ['ab']],
  ])('%j', async (chunks, expected) => {
    expect(await split(chunks)).toEqual(expected);
  });

  test('are the same however the bytes are cut into chunks', async () => {
    const bytes = fc.uint8Array({ maxLength: 200 }).map((array) => array.map((byte) => (byte < 60 ? 10 : byte)));
    await fc.assert(
      fc.asyncProperty(bytes, fc.array(fc.nat(200), { maxLength: 8 }), async (whole, cuts) => {
        const edges = [0, ...cuts.filter((cut) => cut <= whole.length).sort((a, b) => a - b), whole.length];
        const chunks = edges.slice(1).map((edge, index) => whole.subarray(edges[index], edge));
        const expected = Buffer.from(whole).toString('latin1').split('\n');
        if (expected.at(-1) === '') expected.pop();
        expect(await split(chunks)).toEqual(expected);
      }),
    );
  });

  test('too long ones are cut, so that a file without newlines takes no memory', async () => {
    expect(await split(['aaaaaa', 'aaaaaa', 'a\nbb'], 4)).toEqual(['aaaaa', 'bb']);
  });
});
