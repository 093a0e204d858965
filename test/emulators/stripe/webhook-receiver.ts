/** A receiver of webhooks as a user would write one: verifies first, then answers. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Stripe from 'stripe';

export interface Received {
  readonly body: string;
  readonly signature: string;
  readonly contentType: string | undefined;
}

export interface Receiver {
  readonly url: string;
  /** Every request, verified or not, in order of arrival. */
  readonly received: readonly Received[];
  /** Events whose signature held, in order of arrival. */
  readonly events: readonly Stripe.Event[];
  close(): Promise<void>;
}

/** Answers what `answer` says for the nth request, from 1; 0 cuts the connection. 400 when the signature is wrong. */
export async function startReceiver(
  secret: string,
  answer: (nth: number, event: Stripe.Event) => number | Promise<number> = () => 200,
): Promise<Receiver> {
  const stripe = new Stripe('rk_test_receiver');
  const received: Received[] = [];
  const events: Stripe.Event[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString('utf8');
    const signature = String(request.headers['stripe-signature']);
    received.push({ body, signature, contentType: request.headers['content-type'] });
    const nth = received.length;
    let event: Stripe.Event;
    try {
      event = stripe.webhooks.constructEvent(body, signature, secret);
    } catch (error) {
      if (!(error instanceof Stripe.errors.StripeSignatureVerificationError)) throw error;
      response.writeHead(400).end(error.message);
      return;
    }
    events.push(event);
    const status = await answer(nth, event);
    if (status === 0) request.socket.destroy();
    else response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {}).end('ok');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`,
    received,
    events,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
