/** Changes of requests and answers between the Stripe client and the server, for what no server can be made to do. */

type Fetch = typeof fetch;
interface Seen {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

const STEPS = {
  create: (seen: Seen) => seen.method === 'POST' && seen.path === '/v1/payment_intents',
  confirm: (seen: Seen) => seen.method === 'POST' && seen.path.endsWith('/confirm'),
  retrieve: (seen: Seen) => seen.method === 'GET' && /^\/v1\/payment_intents\/[^/]+$/.test(seen.path),
} as const;
export type WireStep = keyof typeof STEPS;

function seenBy(input: Parameters<Fetch>[0], init: RequestInit | undefined): Seen {
  const url = new URL(input instanceof Request ? input.url : input);
  const body = init?.body;
  const text = typeof body === 'string' ? body : body instanceof Uint8Array ? Buffer.from(body).toString('utf8') : '';
  return { method: init?.method ?? 'GET', path: url.pathname, body: text };
}

/** The first `times` answers of a step are changed after the server has given them. */
export function alterAnswer(
  step: WireStep,
  change: (answer: { status: number; body: Record<string, unknown> }) => { status: number; body: object },
  times = 1,
): Fetch {
  let left = times;
  return async (input, init) => {
    const response = await fetch(input, init);
    if (left === 0 || !STEPS[step](seenBy(input, init))) return response;
    left--;
    const body = (await response.json()) as Record<string, unknown>;
    const changed = change({ status: response.status, body });
    return new Response(JSON.stringify(changed.body), { status: changed.status, headers: response.headers });
  };
}

/** The first `times` requests of a step are answered on the way and never arrive. */
export function answerOnTheWay(step: WireStep, status: number, body: object, times = 1): Fetch {
  let left = times;
  return async (input, init) => {
    if (left === 0 || !STEPS[step](seenBy(input, init))) return fetch(input, init);
    left--;
    return new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } });
  };
}

/** The customer is there when we confirm: `off_session` is taken out, so that a card may ask for authentication. */
export const onSession: Fetch = async (input, init) => {
  const seen = seenBy(input, init);
  if (!STEPS.confirm(seen)) return fetch(input, init);
  const body = new URLSearchParams(seen.body);
  body.delete('off_session');
  const headers = new Headers(init?.headers);
  headers.delete('content-length');
  return fetch(input, { ...init, headers, body: body.toString() });
};
