/** A stripe-node client whose requests and answers are both held against Stripe's OpenAPI document. */
import Stripe from 'stripe';
import type { StripeEmulator } from '../stripe';
import { requestViolations, responseViolations } from './conformity';

export interface CheckedClient {
  readonly stripe: Stripe;
  /** Filled while the client is used; a test asserts that it stays empty. */
  readonly violations: string[];
}

export const TEST_KEY = 'rk_test_51ChargeOnceEmulatorKey';

/** A client without retries. */
export function createCheckedClient(
  emulator: Pick<StripeEmulator, 'port'>,
  options: { key?: string; timeoutMs?: number } = {},
): CheckedClient {
  const violations: string[] = [];
  const checkedFetch: typeof fetch = async (input, init) => {
    const url = new URL(String(input));
    const method = init?.method ?? 'GET';
    const form = method === 'GET' ? url.search.slice(1) : String(init?.body ?? '');
    const name = `${method} ${url.pathname}`;
    violations.push(...requestViolations(method, url.pathname, form).map((problem) => `${name} request: ${problem}`));
    const response = await fetch(input, init);
    const body = await response.clone().text();
    const found = responseViolations(method, url.pathname, response.status, body);
    violations.push(...found.map((problem) => `${name} ${response.status}: ${problem}`));
    return response;
  };
  const httpClient = Stripe.createFetchHttpClient(checkedFetch);
  return { stripe: createClient(emulator, { ...options, httpClient }), violations };
}

/** A plain client without retries; the fetch client unless another is given. */
export function createClient(
  emulator: Pick<StripeEmulator, 'port'>,
  options: { key?: string; timeoutMs?: number; httpClient?: Stripe.HttpClient } = {},
): Stripe {
  return new Stripe(options.key ?? TEST_KEY, {
    host: '127.0.0.1',
    port: emulator.port,
    protocol: 'http',
    maxNetworkRetries: 0,
    timeout: options.timeoutMs ?? 20_000,
    telemetry: false,
    httpClient: options.httpClient ?? Stripe.createFetchHttpClient(),
  });
}

/** The error that a call ends in. Throws when it succeeds. */
export async function failureOf(call: Promise<unknown>): Promise<Stripe.errors.StripeError> {
  const outcome = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (outcome instanceof Stripe.errors.StripeError) return outcome;
  throw new Error(`expected a Stripe error, got ${outcome === undefined ? 'success' : String(outcome)}`);
}

/** A header of an error or of an object's last response, for the fetch client and the Node client alike. */
export function headerOf(holder: { headers?: unknown } | undefined, name: string): string | undefined {
  const headers = holder?.headers;
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  return (headers as Record<string, string> | undefined)?.[name];
}
