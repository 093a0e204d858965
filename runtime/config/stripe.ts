/** The Stripe key, its mode, and how to reach Stripe. */
import { NUMBERS } from '../contract/setting-values';
import { STRIPE_KEY } from '../contract/stripe-key';
import { isLoopback, type Reader } from './reader';
import { redactSecrets } from './redact';

export interface StripeConfig {
  readonly apiKey: string;
  readonly mode: 'test' | 'live';
  /** Origin without a path, e.g. `https://api.stripe.com`. */
  readonly apiBase: string;
  /** This worker's share of requests a second, for each endpoint. */
  readonly maxRps: number;
  /** Deadline of one Stripe operation with its own retries, in milliseconds. */
  readonly timeoutMs: number;
}

export const STRIPE_API = 'https://api.stripe.com';

export function readStripe(reader: Reader): StripeConfig {
  const mode = reader.oneOf('STRIPE_MODE', ['test', 'live'] as const, 'test');
  const apiBase = reader.address('STRIPE_API_BASE', STRIPE_API) ?? STRIPE_API;
  const host = new URL(apiBase).hostname;
  if (apiBase.startsWith('http:') && !isLoopback(host)) {
    reader.problem('STRIPE_API_BASE', {
      allowed: 'https, or http to this machine only',
      wayOut: 'Use https: the key would cross the network in the clear.',
    });
  }
  if (mode === 'live' && apiBase !== STRIPE_API) {
    reader.warn('STRIPE_API_BASE', `a live key is sent to ${apiBase}, not to ${STRIPE_API}`);
  }
  return {
    apiKey: readKey(reader, mode),
    mode,
    apiBase,
    maxRps: reader.number('STRIPE_MAX_RPS', {
      min: 0.01,
      max: 10_000,
      fallback: 20,
      unit: 'requests a second',
      decimals: true,
    }),
    timeoutMs: reader.milliseconds('STRIPE_TIMEOUT_MS', NUMBERS.STRIPE_TIMEOUT_MS),
  };
}

function readKey(reader: Reader, mode: 'test' | 'live'): string {
  const key = reader.required('STRIPE_API_KEY', {
    allowed: `a restricted key, rk_${mode}_…`,
    wayOut: 'Make one in the Stripe dashboard under Developers, API keys, and inject it as a secret.',
  });
  if (key === '') return key;
  const [, kind, keyMode] = STRIPE_KEY.exec(key) ?? [];
  if (kind === undefined) {
    const received =
      key === key.trim() ? redactSecrets(key).replace(/^(?!.*\*\*\*).*$/s, '***') : '*** with white space around it';
    reader.problem(
      'STRIPE_API_KEY',
      {
        allowed: `rk_${mode}_ (or sk_test_ in test mode) and at least three letters or digits`,
        wayOut: 'Copy the secret key as Stripe shows it; a publishable key (pk_) cannot charge.',
      },
      received,
    );
    return key;
  }
  if (keyMode !== mode) {
    reader.problem('STRIPE_API_KEY', {
      allowed: `a ${mode} key, because STRIPE_MODE is ${mode}`,
      wayOut: `Use the ${mode} key, or say STRIPE_MODE=${keyMode} if that is meant. The mode is never guessed from the key.`,
    });
  }
  if (kind === 'sk' && keyMode === 'live' && !reader.flag('ALLOW_UNRESTRICTED_STRIPE_KEY')) {
    reader.problem('STRIPE_API_KEY', {
      allowed: 'rk_live_…: a restricted key can charge and nothing else',
      wayOut: 'Make a restricted key, or accept the risk with ALLOW_UNRESTRICTED_STRIPE_KEY=true.',
    });
  }
  return key;
}
