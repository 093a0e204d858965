/** Turns any value into what may stand in a log line: no secrets, no cycles, no megabytes. */
import { redactSecrets } from '../config/redact';

const SECRET_NAME = /pass(word|wd)?$|secret|api_?key|authorization|session_?token|client_state/i;
const MAX_DEPTH = 6;
const MAX_ITEMS = 100;
const MAX_TEXT = 8_192;

/** The fields as plain JSON values; members whose name says secret become `***`. */
export function forLog(fields: object): object {
  return fields instanceof Error ? { err: plainError(fields, 0) } : plainObject(fields, 0);
}

function plain(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return redactSecrets(value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT)}…` : value);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'function' || typeof value === 'symbol') return undefined;
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Error) return plainError(value, depth);
  if (value instanceof Uint8Array) return `${value.byteLength} bytes`;
  if (value instanceof Date || value instanceof URL) return redactSecrets(String(JSON.parse(JSON.stringify(value))));
  if (depth >= MAX_DEPTH) return '…';
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map((item) => plain(item, depth + 1));
  if (value instanceof Map) return plainObject(Object.fromEntries(value), depth);
  if (value instanceof Set) return plain([...value], depth);
  return plainObject(value, depth);
}

function plainObject(value: object, depth: number): object {
  const result: Record<string, unknown> = {};
  for (const [name, inner] of Object.entries(value)) {
    const secret = SECRET_NAME.test(name) && inner !== undefined && inner !== null && typeof inner !== 'boolean';
    result[name] = secret ? redactedMember(inner) : plain(inner, depth + 1);
  }
  return result;
}

/** Of a Stripe key its kind and mode stay readable; of anything else nothing does. */
function redactedMember(value: unknown): string {
  const shown = typeof value === 'string' ? redactSecrets(value) : '***';
  return /^[a-z]+_(live_|test_)?\*\*\*$/.test(shown) ? shown : '***';
}

/** What errors of drivers and SDKs carry that helps on call; everything else (requests, headers) stays out. */
const ERROR_FIELDS = ['code', 'errno', 'syscall', 'address', 'port', 'constraint', 'table', 'statusCode', '$metadata'];

function plainError(error: Error, depth: number): object {
  const result: Record<string, unknown> = {
    type: error.name,
    message: redactSecrets(error.message),
    stack: redactSecrets(error.stack ?? '').slice(0, MAX_TEXT),
  };
  const members = error as unknown as Record<string, unknown>;
  for (const name of ERROR_FIELDS) {
    if (members[name] !== undefined) result[name] = plain(members[name], depth + 1);
  }
  if (depth < MAX_DEPTH && error.cause !== undefined) result.cause = plain(error.cause, depth + 1);
  if (depth < MAX_DEPTH && error instanceof AggregateError) result.errors = plain(error.errors, depth + 1);
  return result;
}
