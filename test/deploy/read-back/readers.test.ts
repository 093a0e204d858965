/** The list of readers is the list of types that are deployed, and comparing finds every kind of difference. */
import { describe, expect, it } from 'vitest';
import { billingApp } from '../../../stacks/aws/app';
import { composedApp } from '../../../stacks/aws/composed';
import { assemble } from '../deployment';
import { differences } from './compare';
import { READERS } from './readers';
import type { JsonObject } from './reading';

describe('the types of resources', () => {
  it('that the stacks have are those that somebody reads back, and no others', () => {
    const assemblies = [billingApp, composedApp].map((app) => assemble((outdir) => app(outdir)));
    const types = new Set(assemblies.flatMap(({ types: each }) => each));
    for (const each of assemblies) each.remove();
    expect([...types].sort()).toEqual(Object.keys(READERS).sort());
  });
});

describe('comparing', () => {
  const template: JsonObject = {
    Name: 'a',
    Count: '20',
    On: true,
    Parts: [{ Key: 'a', Value: 1 }, 'b'],
    Inner: { Deep: { Word: 'x' } },
    Tags: [
      { Key: 'b', Value: '2' },
      { Key: 'a', Value: '1' },
    ],
  };
  const found = (changes: JsonObject = {}): { properties: JsonObject } => ({
    properties: { ...template, Count: 20, Tags: [...(template.Tags as [])].reverse(), ...changes },
  });

  it('takes numbers for their text, tags in any order, and what a service adds', () => {
    expect(differences(template, found({ More: 'x', Inner: { Deep: { Word: 'x', More: 'y' } } }))).toEqual([]);
  });

  it.each<[string, JsonObject]>([
    ['Name is "b"', { Name: 'b' }],
    ['Name is undefined', { Name: undefined }],
    ['Count is 21', { Count: 21 }],
    ['On is false', { On: false }],
    ['Parts is [', { Parts: [{ Key: 'a', Value: 1 }] }],
    ['Parts[0].Value is 2', { Parts: [{ Key: 'a', Value: 2 }, 'b'] }],
    [
      'Parts[0].Key is "b"',
      { Parts: ['b', { Key: 'a', Value: 1 }].map((each) => (each === 'b' ? { Key: 'b', Value: 1 } : each)) },
    ],
    ['Inner.Deep is undefined', { Inner: {} }],
    ['Inner.Deep.Word is "y"', { Inner: { Deep: { Word: 'y' } } }],
    [
      'Tags[1].Value is "3"',
      {
        Tags: [
          { Key: 'a', Value: '1' },
          { Key: 'b', Value: '3' },
        ],
      },
    ],
  ])('finds that %s', (what, changes) => {
    expect(differences(template, found(changes)).join()).toContain(what);
  });

  it('finds a property that nobody reads, unless it says why', () => {
    const { Name: _, ...properties } = found().properties;
    expect(differences(template, { properties })).toEqual(['Name is not read back']);
    expect(differences(template, { properties }, { Name: 'no call shows it' })).toEqual([]);
  });
});
