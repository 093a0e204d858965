/**
 * Reads one response header. With the fetch client the SDK hands out a `Headers`, on errors and with the node client
 * a plain object; an index into a `Headers` is always undefined, and a replayed answer would pass as a fresh one.
 */
export function header(headers: unknown, name: string): string | undefined {
  if (typeof headers !== 'object' || headers === null) return undefined;
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  for (const [key, value] of Object.entries(headers)) {
    if (key.toLowerCase() !== name) continue;
    if (typeof value === 'string') return value;
    if (Array.isArray(value) && typeof value[0] === 'string') return value[0];
  }
  return undefined;
}

/** Whether Stripe answered from its store of an earlier request under the same key. */
export const wasReplayed = (headers: unknown): boolean =>
  header(headers, 'idempotent-replayed')?.trim().toLowerCase() === 'true';

const LONGEST_RETRY_AFTER_MS = 60_000;

/** `Retry-After` in milliseconds, at most a minute; absent when it is missing or a date. */
export function retryAfterMs(headers: unknown): number | undefined {
  const text = header(headers, 'retry-after')?.trim();
  if (text === undefined || !/^\d{1,6}(\.\d+)?$/.test(text)) return undefined;
  return Math.min(LONGEST_RETRY_AFTER_MS, Math.ceil(Number(text) * 1000));
}
