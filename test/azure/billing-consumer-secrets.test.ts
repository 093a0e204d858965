/** What a preview says of keys and secrets of the stack, before a worker refuses them at its start. */
import * as pulumi from '@pulumi/pulumi';
import { describe, expect, it } from 'vitest';
import { type Change, runConsumer } from './consumer-program';

const SECRET = 'x7Qm2';
const withKey =
  (stripeKey: pulumi.Input<string>, more: object = {}): Change =>
  ({ stripeKeySecretUri: _uri, keyVaultId: _vault, ...args }) => ({ ...args, ...more, stripeKey });
const refusal = (change: Change) =>
  runConsumer(change).then(
    () => 'taken',
    (error: Error) => error.message,
  );

describe('a key of the stack', () => {
  it.each([
    ['of the other mode', `rk_live_${SECRET}`, {}, ['stripeKey is a live key', 'stripeMode is test']],
    [
      'of the other mode',
      `rk_test_${SECRET}`,
      { stripeMode: 'live' },
      ['stripeKey is a test key', 'stripeMode is live'],
    ],
    ['that is empty', '', {}, ['stripeKey is an empty text', 'rk_test_']],
    ['that is publishable', `pk_test_${SECRET}`, {}, ['no secret key of Stripe', 'a publishable key']],
    [
      'that is too short',
      'rk_test_1',
      {},
      ['no secret key of Stripe', 'rk_test_ and at least three letters or digits'],
    ],
    [
      'that may do everything, which is said not to be wanted',
      `sk_live_${SECRET}`,
      { stripeMode: 'live', environment: { ALLOW_UNRESTRICTED_STRIPE_KEY: 'false' } },
      ['an unrestricted live key', 'rk_live_'],
    ],
    ['that may do everything', `sk_live_${SECRET}`, { stripeMode: 'live' }, ['an unrestricted live key', 'rk_live_']],
  ] as const)('%s is refused, and not shown', async (_, key, more, words) => {
    for (const given of [key, pulumi.secret(key)]) {
      const said = await refusal(withKey(given, more));
      for (const word of words) expect(said).toContain(word);
      expect(said).not.toContain(SECRET);
    }
  });

  it.each([
    [`rk_test_${SECRET}`, {}],
    [`sk_test_${SECRET}`, {}],
    [`rk_live_${SECRET}`, { stripeMode: 'live' }],
    [`sk_live_${SECRET}`, { stripeMode: 'live', environment: { ALLOW_UNRESTRICTED_STRIPE_KEY: 'true' } }],
  ] as const)('is taken when the runtime takes it: %s', async (key, more) => {
    expect(await refusal(withKey(key, more))).toBe('taken');
  });
});

describe('a setting of the user’s own', () => {
  it('that is a secret is refused, since the app would show it', async () => {
    const said = await refusal((args) => ({ ...args, environment: { PGSSLROOTCERT: pulumi.secret(SECRET) } }));
    expect(said).toContain('environment.PGSSLROOTCERT is a secret');
    expect(said).not.toContain(SECRET);
  });

  it('that no worker takes is refused as soon as it is known', async () => {
    const said = await refusal((args) => ({ ...args, environment: { LOG_LEVEL: pulumi.output('verbose') } }));
    expect(said).toContain('environment.LOG_LEVEL is "verbose"; allowed: debug | info | warn | error.');
  });

  it('that is an output and no secret reaches the worker', async () => {
    const run = await runConsumer((args) => ({ ...args, environment: { DEFAULT_CURRENCY: pulumi.output('eur') } }));
    const { template } = run.named('charges-app').inputs as { template: { containers: [{ env: object[] }] } };
    expect(template.containers[0].env).toContainEqual({ name: 'DEFAULT_CURRENCY', value: 'eur' });
  });
});
