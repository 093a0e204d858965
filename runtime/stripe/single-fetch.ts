/**
 * The `fetch` that the SDK is given: one request for one call, the body read to its end within the SDK's deadline, and
 * only a JSON object handed on. It closes what the SDK leaves open:
 * - an error that carries ECONNRESET or EPIPE makes it send the request again, even with retries off;
 * - a body that is JSON but no object makes it throw outside its own promise: the call would never settle;
 * - the status of an unreadable answer is lost.
 * And it holds the deadline itself: `fetch` of Node.js 20 forgets its signal when the garbage is collected between the
 * headers and the end of the body, and a body that stalls is then waited for without an end.
 */
import { header, wasReplayed } from './headers';
import { scrub } from './scrub';

/** Something answered, but not in Stripe's words: a proxy's page, an empty or a truncated body. */
export class UnreadableAnswer extends Error {
  constructor(
    readonly status: number,
    readonly replayed: boolean,
    readonly what: string,
  ) {
    super(`HTTP ${status} with ${what}`);
  }
}

const NO_BODY_STATUSES = new Set([101, 103, 204, 205, 304]);

function reasonOf(error: unknown): string {
  const parts: string[] = [];
  for (let at = error; at instanceof Error && parts.length < 4; at = at.cause) {
    if (at.message !== '') parts.push(at.message);
  }
  return scrub(parts.join(': ') || 'the connection failed');
}

/** What a body is when it is not a JSON object, in words; undefined when it is one. */
function notAnObject(text: string): string | undefined {
  if (text.trim() === '') return 'an empty body';
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return /^\s*</.test(text) ? 'an HTML body' : 'a body that is not JSON';
  }
  if (value === null) return 'the body null';
  if (Array.isArray(value)) return 'a JSON array';
  return typeof value === 'object' ? undefined : `a JSON ${typeof value}`;
}

async function readToTheEnd(response: Response, signal: AbortSignal | null | undefined): Promise<string> {
  try {
    return await textOf(response, signal);
  } catch (error) {
    const requestId = header(response.headers, 'request-id');
    const seen = requestId === undefined ? '' : `, request ${scrub(requestId)}`;
    throw new Error(`headers arrived (HTTP ${response.status}${seen}), the body did not: ${reasonOf(error)}`);
  }
}

/** Rejects with the signal's reason, however long the rest takes to come, and closes the connection then. */
async function textOf(response: Response, signal: AbortSignal | null | undefined): Promise<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) return '';
  const stop = () => void reader.cancel(signal?.reason).catch(() => undefined);
  signal?.addEventListener('abort', stop, { once: true });
  try {
    const decoder = new TextDecoder();
    for (let text = ''; ; ) {
      const { done, value } = await reader.read();
      // Canceled it looks like one that has ended.
      signal?.throwIfAborted();
      if (done) return text + decoder.decode();
      text += decoder.decode(value, { stream: true });
    }
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}

/** `base` replaces scheme, host and port of every request and goes before its path. Redirects are refused. */
export function createSingleFetch(base: URL, fetchFn: typeof fetch): typeof fetch {
  const prefix = base.pathname.replace(/\/+$/, '');
  return async (input, init) => {
    const asked = new URL(input instanceof Request ? input.url : input);
    const url = new URL(`${prefix}${asked.pathname}${asked.search}`, base.origin);
    let response: Response;
    try {
      response = await fetchFn(url, { ...init, redirect: 'error' });
    } catch (error) {
      // A new error without a `code`: see above. The deadline is told apart by the SDK's own signal.
      throw new Error(reasonOf(init?.signal?.aborted ? init.signal.reason : error));
    }
    const text = await readToTheEnd(response, init?.signal);
    const what = NO_BODY_STATUSES.has(response.status) ? 'no body' : notAnObject(text);
    if (what !== undefined) throw new UnreadableAnswer(response.status, wasReplayed(response.headers), what);
    const headers = new Headers(response.headers);
    // The SDK would print this header's text to stderr as a process warning.
    headers.delete('stripe-notice');
    return new Response(text, { status: response.status, headers });
  };
}
