import fc from 'fast-check';
import Stripe from 'stripe';
import { describe, expect, it } from 'vitest';
import { canonicalForm, emptyTree, type FormTree, parseForm } from './form';

/** The body that stripe-node sends for these parameters. */
async function encode(metadata: Record<string, string>): Promise<string> {
  let body = '';
  const capture: typeof fetch = async (_, init) => {
    body = String(init?.body ?? '');
    return new Response('{"object":"customer"}', { headers: { 'content-type': 'application/json' } });
  };
  const stripe = new Stripe('sk_test_x', { httpClient: Stripe.createFetchHttpClient(capture), telemetry: false });
  await stripe.customers.create({ metadata });
  return body;
}

const name = fc.string({ minLength: 1, maxLength: 20, unit: 'grapheme' }).filter((text) => !/[[\]]/.test(text));
const value = fc.string({ maxLength: 30, unit: 'grapheme' });

describe('the form parser', () => {
  it('gives back whatever metadata stripe-node encodes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.dictionary(name, value, { minKeys: 1, maxKeys: 6 }), async (metadata) => {
        const tree = parseForm(await encode(metadata));
        expect({ ...(tree.metadata as FormTree) }).toEqual({ ...metadata });
      }),
      { numRuns: 200 },
    );
  });

  it('reads lists in both spellings, nested parts, and the last of two', () => {
    expect(parseForm('a[]=x&a[]=y')).toEqual(parseForm('a[0]=x&a[1]=y'));
    expect(parseForm('a[b][c]=1&a[b][d]=2&e=3&e=4')).toEqual({ a: { b: { c: '1', d: '2' } }, e: '4' });
    expect(parseForm('')).toEqual({});
  });

  it('keeps a malformed name as it is and never touches a prototype', () => {
    expect(Object.keys(parseForm('a[b=1&[c]=2'))).toEqual(['a[b', '[c]']);
    const tree = parseForm('__proto__[polluted]=yes&constructor[prototype][x]=1');
    expect(Object.keys(tree)).toEqual(['__proto__', 'constructor']);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it('canonical text depends on the parameters, not on their order', () => {
    const pairs = fc.uniqueArray(fc.tuple(name, value), { selector: ([key]) => key, minLength: 1, maxLength: 6 });
    const treeOf = (entries: [string, string][]) => Object.assign(emptyTree(), { metadata: plain(entries) });
    const plain = (entries: [string, string][]) => {
      const tree = emptyTree();
      for (const [key, text] of entries) tree[key] = text;
      return tree;
    };
    fc.assert(
      fc.property(pairs, fc.nat(), (entries, at) => {
        const turned = [...entries].reverse();
        expect(canonicalForm(treeOf(turned))).toBe(canonicalForm(treeOf(entries)));
        const changed = entries.map(([key, text], index): [string, string] =>
          index === at % entries.length ? [key, `${text}x`] : [key, text],
        );
        expect(canonicalForm(treeOf(changed))).not.toBe(canonicalForm(treeOf(entries)));
      }),
    );
  });
});
