/** Posts to receivers on this machine, and to nowhere else. */
import { request } from 'node:http';

/** The address, if it is one of this machine. Throws for any other, since the emulator must never leak events. */
export function loopbackUrl(text: string): URL {
  const allowed = 'allowed: http on 127.0.0.1, [::1] or localhost, such as http://127.0.0.1:4242/webhooks';
  if (!URL.canParse(text))
    throw new TypeError(`webhooks.add: url: received '${text}', which is no address; ${allowed}`);
  const url = new URL(text);
  const isLoopback = /^(localhost|\[::1\]|127(\.\d{1,3}){3})$/.test(url.hostname);
  if (url.protocol === 'http:' && isLoopback) return url;
  throw new TypeError(
    `webhooks.add: url: received ${url.protocol}//${url.host}; ${allowed}. The emulator talks to nothing else: run the receiver here.`,
  );
}

export interface Post {
  readonly url: URL;
  readonly body: string;
  readonly signature: string;
  /** A connection that is silent for longer is given up. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** The status of the answer, or undefined when there was none. Redirects are not followed, as at Stripe. */
export function post({ url, body, signature, timeoutMs, signal }: Post): Promise<number | undefined> {
  const bytes = Buffer.from(body);
  const headers = {
    accept: '*/*; q=0.5, application/xml',
    'cache-control': 'no-cache',
    'content-length': bytes.length,
    'content-type': 'application/json; charset=utf-8',
    'stripe-signature': signature,
    'user-agent': 'Stripe/1.0 (+https://stripe.com/docs/webhooks)',
  };
  return new Promise((resolve) => {
    const sent = request(url, { method: 'POST', agent: false, headers, signal }, (response) => {
      // What follows the status does not matter, not even a cut.
      response.on('error', () => {});
      response.on('close', () => resolve(response.statusCode));
      response.resume();
    });
    sent.setTimeout(timeoutMs, () => sent.destroy());
    sent.on('error', () => resolve(undefined));
    sent.end(bytes);
  });
}
