import { describe, expect, test } from 'vitest';
import { readConfig } from '../../../runtime/config';
import { environment } from './environment';

const read = (changes: Record<string, string | undefined>) => readConfig(environment(changes));
const config = (changes: Record<string, string | undefined>) => {
  const result = read(changes);
  if (!result.ok) throw new Error(result.problems.join(' | '));
  return result.config;
};
const problems = (changes: Record<string, string | undefined>) => {
  const result = read(changes);
  return result.ok ? [] : result.problems;
};

describe('the spend cap', () => {
  test('must be said', () => {
    expect(problems({ SPEND_CAP_MODE: undefined, SPEND_CAP_DEFAULT: undefined })[0]).toContain('it is never assumed');
    expect(problems({ SPEND_CAP_DEFAULT: undefined })[0]).toContain('the most that one billing period may cost');
    expect(config({ SPEND_CAP_MODE: 'off', SPEND_CAP_DEFAULT: undefined }).spendCap.mode).toBe('off');
  });

  test('an amount that nothing would enforce is refused', () => {
    expect(problems({ SPEND_CAP_MODE: 'off' })[0]).toContain('Nothing would enforce it');
  });

  test('the proxy is not in this version', () => {
    expect(problems({ SPEND_CAP_MODE: 'proxy' })[0]).toContain('proxy is not in this version');
  });

  test.each([
    'usd',
    'usd:',
    'usd:1.5',
    'usd:-1',
    'usd:1e6',
    'usd:1,usd:2',
    'dollar:1',
    'usd:9007199254740993',
    'usd:1,,eur:2',
    '50000',
  ])('%s is no amount', (value) => {
    expect(problems({ SPEND_CAP_DEFAULT: value })[0]).toContain('SPEND_CAP_DEFAULT');
  });

  test('a cap of nothing is a cap', () => {
    expect(config({ SPEND_CAP_DEFAULT: 'usd:0' }).spendCap.perPeriod).toEqual({ usd: 0 });
  });

  test('a missing amount for the default currency is told', () => {
    expect(read({ DEFAULT_CURRENCY: 'JPY' }).warnings[0]).toContain('no amount for jpy');
  });
});

describe('the fields of events', () => {
  test('map our names to JSON Pointers', () => {
    const fields = { customer_id: '/account/id', amount_cents: '/totals/0/am~1ount' };
    expect(config({ EVENT_FIELDS: JSON.stringify(fields) }).billing.eventFields).toEqual(fields);
  });

  test.each([
    '[]',
    'null',
    '"x"',
    '{',
    '{"customer":"/a"}',
    '{"customer_id":"a"}',
    '{"customer_id":7}',
    '{"customer_id":"/a~2"}',
  ])('%s is refused', (value) => {
    expect(problems({ EVENT_FIELDS: value })[0]).toContain('EVENT_FIELDS');
  });
});
