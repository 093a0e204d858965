import { describe, expect, test } from 'vitest';
import { readConfig } from '../../../runtime/config';
import { environment } from './environment';

const read = (changes: Record<string, string | undefined>) => readConfig(environment(changes));
const problems = (changes: Record<string, string | undefined>) => {
  const result = read(changes);
  return result.ok ? [] : result.problems;
};

describe('the Stripe key', () => {
  test.each([
    ['test', 'rk_test_abc123'],
    ['test', 'sk_test_abc123'],
    ['live', 'rk_live_abc123'],
  ])('in %s mode %s is taken', (mode, key) => {
    expect(problems({ STRIPE_MODE: mode, STRIPE_API_KEY: key })).toEqual([]);
  });

  test.each([
    ['test', 'sk_live_abc123'],
    ['test', 'rk_live_abc123'],
    ['live', 'sk_test_abc123'],
    ['live', 'rk_test_abc123'],
    [undefined, 'rk_live_abc123'],
  ])('in %s mode %s is refused: the mode is said, never guessed', (mode, key) => {
    const found = problems({ STRIPE_MODE: mode, STRIPE_API_KEY: key, ALLOW_UNRESTRICTED_STRIPE_KEY: 'true' });
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(`because STRIPE_MODE is ${mode ?? 'test'}`);
  });

  test('an unrestricted live key needs to be allowed', () => {
    const live = { STRIPE_MODE: 'live', STRIPE_API_KEY: 'sk_live_abc123' };
    expect(problems(live)[0]).toContain('ALLOW_UNRESTRICTED_STRIPE_KEY=true');
    expect(problems({ ...live, ALLOW_UNRESTRICTED_STRIPE_KEY: 'true' })).toEqual([]);
  });

  test.each([
    'pk_test_abc123',
    'whsec_abcdefghijklmnop',
    'rk_test_',
    'secretvalue',
    ' rk_test_abc123',
    'rk_test_abc123\n',
  ])('%j is refused and not shown', (key) => {
    const found = problems({ STRIPE_API_KEY: key });
    expect(found[0]).toContain('STRIPE_API_KEY');
    expect(found[0]).not.toContain('abc123');
    expect(found[0]).not.toContain('secretvalue');
  });
});

describe('the address of Stripe', () => {
  test('plain http goes to this machine only', () => {
    expect(problems({ STRIPE_API_BASE: 'http://stripe.internal' })[0]).toContain('the key would cross the network');
    expect(problems({ STRIPE_API_BASE: 'http://127.0.0.1.evil.com' })).toHaveLength(1);
    for (const base of ['http://127.0.0.1:4242', 'http://localhost:4242', 'http://[::1]:4242']) {
      expect(problems({ STRIPE_API_BASE: base })).toEqual([]);
    }
  });

  test.each(['api.stripe.com', 'ftp://x', 'https://u:p@api.stripe.com', 'https://api.stripe.com/v1', 'https://x?y=1'])(
    '%s is refused',
    (base) => {
      expect(problems({ STRIPE_API_BASE: base })[0]).toContain('STRIPE_API_BASE');
    },
  );

  test('a live key for another host is told', () => {
    const live = { STRIPE_MODE: 'live', STRIPE_API_KEY: 'rk_live_abc123' };
    expect(read({ ...live, STRIPE_API_BASE: 'https://proxy.internal' }).warnings[0]).toContain(
      'https://proxy.internal',
    );
    expect(read(live).warnings).toEqual([]);
  });
});
