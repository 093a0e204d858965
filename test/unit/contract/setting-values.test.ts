/** Constructs and runtime judge one value alike: what passes a preview does not stop the worker at its start. */
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../../runtime/config';
import { CHOICES, NUMBERS, TEXTS, wrongSetting } from '../../../runtime/contract/setting-values';
import { environment } from '../config/environment';

const EVENT_HUBS = {
  SOURCE: 'event-hubs',
  EVENTHUB_NAME: 'usage',
  EVENTHUB_CONSUMER_GROUP: 'chargeonce',
  EVENTHUB_NAMESPACE: 'contoso.servicebus.windows.net',
  CHECKPOINT_CONTAINER_URL: 'https://contoso.blob.core.windows.net/chargeonce',
  STREAM_NAME: undefined,
  LEASE_TABLE_NAME: undefined,
  AWS_REGION: undefined,
  // With a key that charges and more, so that its permission is read too.
  STRIPE_MODE: 'live',
  STRIPE_API_KEY: 'sk_live_4eC39HqLyjWDarjt',
};

const WRONG = ['a word too many', '-1 %', '1e3 ', '30 s', '0 x10'];

const NAMES = [NUMBERS, CHOICES, TEXTS].flatMap((rules) => Object.keys(rules));

/** What the runtime says of one setting at its start. */
function said(name: string, value: string): string[] {
  const read = readConfig(environment({ ...EVENT_HUBS, [name]: value }));
  return read.ok ? [] : read.problems.filter((problem) => problem.startsWith(`${name}: `));
}

describe.each(NAMES)('%s', (name) => {
  it.each(WRONG)('refuses %s in the runtime’s words', (value) => {
    const fault = wrongSetting(name, value);
    expect(fault).toBeDefined();
    expect(said(name, value)).toContain(
      `${name}: received ${JSON.stringify(value)}; allowed: ${fault?.allowed}. ${fault?.wayOut}`,
    );
  });

  it('takes an empty value, which counts as absent', () => {
    expect(wrongSetting(name, '')).toBeUndefined();
    expect(said(name, '').join()).not.toContain(' received ""');
  });
});

describe('what is right', () => {
  it.each(Object.entries(NUMBERS))('%s between its bounds', (name, { min, max, fallback }) => {
    for (const value of [min, max, fallback]) expect(wrongSetting(name, String(value))).toBeUndefined();
    expect(wrongSetting(name, String(max + 1))).toBeDefined();
    expect(said(name, String(max + 1))).not.toEqual([]);
    expect(said(name, String(fallback))).toEqual([]);
  });

  it.each(Object.entries(CHOICES))('%s by each of its words', (name, { choices }) => {
    for (const value of choices) expect(wrongSetting(name, value)).toBeUndefined();
  });

  it('says nothing of a setting that it has no rule for', () => {
    expect(wrongSetting('NODE_OPTIONS', '--inspect')).toBeUndefined();
  });
});
