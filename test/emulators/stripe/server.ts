/** HTTP on loopback: reads a request whole, runs it, writes the answer in the way that a fault asks for. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { maskKey } from './auth';
import type { EmulatorClock } from './clock';
import type { Reply } from './errors';
import type { Transport } from './faults';
import type { IncomingRequest, Outcome } from './pipeline';

/** One request as it came in, and how it ended. */
export interface RequestRecord {
  /** Milliseconds on the emulator's clock. */
  readonly at: number;
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: string;
  /** The body's bytes as received. */
  readonly rawBody: Buffer;
  readonly idempotencyKey: string | undefined;
  readonly stripeVersion: string | undefined;
  /** The caller's key, masked. */
  readonly apiKey: string | undefined;
  /** Such as `payment_intents.confirm`; empty until the request has ended. */
  operation: string;
  requestId: string;
  /** Undefined while it runs, and when the connection was cut without an answer. */
  status: number | undefined;
  replayed: boolean;
  /** The endpoint executed for this request: not a replay, not refused before. */
  executed: boolean;
  ended: boolean;
}

const MAX_BODY_BYTES = 1024 * 1024;

export interface HttpParts {
  readonly clock: EmulatorClock;
  readonly records: RequestRecord[];
  readonly run: (request: IncomingRequest) => Promise<Outcome>;
}

export async function listen(parts: HttpParts, port: number): Promise<{ server: Server; port: number }> {
  const server = createServer((incoming, response) => {
    serve(parts, incoming, response).catch(() => response.destroy());
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return { server, port: (server.address() as AddressInfo).port };
}

/** Cuts every connection and frees the port. */
export function stop(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

async function serve(parts: HttpParts, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const rawBody = await readBody(incoming);
  const url = new URL(incoming.url ?? '/', 'http://stripe.invalid');
  const header = (name: string) => [incoming.headers[name]].flat()[0];
  const record = newRecord(parts.clock.now(), incoming.method ?? 'GET', url, rawBody, header);
  parts.records.push(record);
  const outcome = await parts.run({
    method: record.method,
    path: record.path,
    query: record.query,
    body: rawBody.toString('utf8'),
    header,
  });
  record.operation = outcome.operation;
  record.requestId = outcome.requestId;
  record.replayed = outcome.isReplay;
  record.executed = outcome.isExecuted;
  record.status = outcome.reply?.status;
  record.ended = true;
  if (outcome.reply === undefined) response.destroy();
  else await write(parts.clock, response, outcome.reply, outcome.transport);
}

function newRecord(
  at: number,
  method: string,
  url: URL,
  rawBody: Buffer,
  header: (name: string) => string | undefined,
): RequestRecord {
  const token = header('authorization')?.split(' ')[1];
  return {
    at,
    method,
    path: url.pathname,
    query: url.search.slice(1),
    rawBody,
    idempotencyKey: header('idempotency-key'),
    stripeVersion: header('stripe-version'),
    apiKey: token === undefined ? undefined : maskKey(token),
    operation: '',
    requestId: '',
    status: undefined,
    replayed: false,
    executed: false,
    ended: false,
  };
}

async function readBody(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw new Error(`request body above ${MAX_BODY_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function write(
  clock: EmulatorClock,
  response: ServerResponse,
  reply: Reply,
  transport: Transport | undefined,
): Promise<void> {
  const whole = Buffer.from(reply.body);
  const body = transport?.how === 'truncate' ? whole.subarray(0, Math.floor(whole.length / 2)) : whole;
  response.writeHead(reply.status, { ...reply.headers, 'content-length': body.length });
  if (transport?.how === 'stall') {
    response.flushHeaders();
    return;
  }
  if (transport?.how !== 'drip') {
    response.end(body);
    return;
  }
  for (const byte of body) {
    if (response.destroyed || clock.stopped.aborted) return;
    response.write(Buffer.of(byte));
    await clock.sleep(transport.delayMs);
  }
  response.end();
}
