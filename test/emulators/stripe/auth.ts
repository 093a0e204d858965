/** API keys: who is asking, in which mode, and what the key may do. */
import { invalidRequest } from './errors';

export interface ApiKey {
  /** The account the key belongs to. Absent: the emulator's own account. */
  readonly account?: string;
  /** Permissions of a restricted key, such as `payment_intent_write` (write implies read). Absent: everything. */
  readonly permissions?: readonly string[];
  /** Absent: active. */
  readonly state?: 'active' | 'expired' | 'revoked';
}

export interface Identity {
  readonly account: string;
  readonly livemode: boolean;
  readonly key: string;
  readonly permissions: readonly string[] | undefined;
}

/** What the runtime needs of a restricted key, and nothing more. */
export const RUNTIME_PERMISSIONS: readonly string[] = [
  'accounts_kyc_basic_read',
  'charge_read',
  'customer_read',
  'event_read',
  'payment_intent_write',
  'payment_method_read',
  'refund_read',
];

const KEY_SHAPE = /^(sk|rk)_(test|live)_[A-Za-z0-9]/;

export function maskKey(key: string): string {
  const prefix = /^(sk|rk|pk)_(test|live)_/.exec(key)?.[0] ?? '';
  return `${prefix}***${key.length >= prefix.length + 8 ? key.slice(-4) : ''}`;
}

export class KeyRing {
  readonly #keys = new Map<string, ApiKey>();
  readonly #acceptsAny: boolean;

  /** No keys given: every well-formed sk_ or rk_ key is good, a restricted one with all permissions. */
  constructor(
    readonly account: string,
    keys: Readonly<Record<string, ApiKey>> | undefined,
  ) {
    this.#acceptsAny = keys === undefined;
    for (const [key, entry] of Object.entries(keys ?? {})) this.set(key, entry);
  }

  /** Adds a key or changes one; also how a test expires or revokes it. */
  set(key: string, entry: ApiKey): void {
    if (!KEY_SHAPE.test(key)) throw new Error(`keys.set: '${maskKey(key)}' is no sk_test_, sk_live_, rk_ key`);
    this.#keys.set(key, entry);
  }

  /** The caller, or the 401 that Stripe answers. */
  authenticate(authorization: string | undefined): Identity {
    const key = readKey(authorization);
    if (key === undefined) {
      throw invalidRequest(
        "You did not provide an API key. You need to provide your API key in the Authorization header, using Bearer auth (e.g. 'Authorization: Bearer YOUR_SECRET_KEY'). See https://stripe.com/docs/api#authentication for details, or we can help at https://support.stripe.com/.",
        { status: 401 },
      );
    }
    const entry = this.#keys.get(key) ?? (this.#acceptsAny && KEY_SHAPE.test(key) ? {} : undefined);
    if (entry === undefined || entry.state === 'revoked') {
      throw invalidRequest(`Invalid API Key provided: ${maskKey(key)}`, { status: 401 });
    }
    if (entry.state === 'expired') {
      throw invalidRequest(`Expired API Key provided: ${maskKey(key)}`, { status: 401, code: 'api_key_expired' });
    }
    return {
      account: entry.account ?? this.account,
      livemode: key.slice(3, 7) === 'live',
      key,
      permissions: entry.permissions,
    };
  }
}

/** Throws the 403 of a restricted key that lacks the permission. */
export function authorize(identity: Identity, permission: string): void {
  const granted = identity.permissions;
  if (granted === undefined || granted.includes(permission)) return;
  if (permission.endsWith('_read') && granted.includes(permission.replace(/_read$/, '_write'))) return;
  throw invalidRequest(
    `The provided key '${maskKey(identity.key)}' does not have the required permissions for this endpoint on account '${identity.account}'. Enabling the '${permission}' permission on this key would allow this request to continue.`,
    { status: 403 },
  );
}

function readKey(authorization: string | undefined): string | undefined {
  const [scheme, credentials = ''] = (authorization ?? '').split(' ', 2);
  if (scheme?.toLowerCase() === 'bearer') return credentials === '' ? undefined : credentials;
  if (scheme?.toLowerCase() !== 'basic') return undefined;
  const user = Buffer.from(credentials, 'base64').toString('utf8').split(':')[0];
  return user === '' ? undefined : user;
}
