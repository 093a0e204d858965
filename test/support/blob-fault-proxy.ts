/**
 * A loopback HTTP proxy in front of blob storage that does to requests what the network and the service do on a bad day.
 * Several rules may be active; the first that matches a request decides about it.
 */
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type BlobFaultAction =
  /** Answers 503 ServerBusy; nothing is applied. */
  | { readonly kind: 'busy' }
  /** Answers this status with this code of the service; nothing is applied. */
  | { readonly kind: 'refuse'; readonly status: number; readonly code: string }
  /** Holds the request until the fault is removed; then it goes on, unless the client has hung up. */
  | { readonly kind: 'hang' }
  /** Cuts the connection; nothing is applied. */
  | { readonly kind: 'drop-request' }
  /** The service applies the request; its answer is lost. */
  | { readonly kind: 'drop-response' };

export interface BlobFaultRule {
  /** Absent: every request. */
  readonly matches?: (request: BlobRequest) => boolean;
  readonly action: BlobFaultAction;
  /** The rule ends after so many hits. Absent: it stays until it is removed. */
  readonly times?: number;
}

export interface BlobRequest {
  readonly method: string;
  /** Without the query: `/account/container/blob`. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** In small letters. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** What the client was told; undefined before that, and when it was told nothing. */
  readonly status: number | undefined;
}

export interface InjectedBlobFault {
  /** Requests that met this fault, oldest first. */
  readonly hits: readonly BlobRequest[];
  /** Ends the fault and lets held requests go on. */
  remove(): void;
}

export interface BlobFaultProxy {
  readonly endpoint: string;
  /** The one given, with this proxy's address in it. */
  readonly connectionString: string;
  inject(rule: BlobFaultRule): InjectedBlobFault;
  /** Told of every request once it was answered, or cut off. */
  onAnswered(listener: (request: BlobRequest) => void): void;
  stop(): Promise<void>;
}

class ActiveFault implements InjectedBlobFault {
  readonly hits: BlobRequest[] = [];
  private ended = false;
  private readonly held = new Set<() => void>();

  constructor(readonly rule: BlobFaultRule) {}

  takes(incoming: BlobRequest): boolean {
    const { matches, times } = this.rule;
    if (this.ended || (times !== undefined && this.hits.length >= times) || matches?.(incoming) === false) return false;
    this.hits.push(incoming);
    return true;
  }

  hold(): Promise<void> {
    return new Promise((resolve) => {
      if (this.ended) resolve();
      else this.held.add(resolve);
    });
  }

  remove(): void {
    this.ended = true;
    for (const release of this.held) release();
    this.held.clear();
  }
}

interface Exchange {
  readonly seen: BlobRequest & { status: number | undefined };
  readonly message: IncomingMessage;
  readonly body: Buffer;
  readonly response: ServerResponse;
}

export interface BlobFaultProxyOptions {
  /** Of the storage behind it. */
  readonly endpoint: string;
  readonly connectionString: string;
}

export async function startBlobFaultProxy(options: BlobFaultProxyOptions): Promise<BlobFaultProxy> {
  const target = new URL(options.endpoint);
  const agent = new Agent({ keepAlive: true });
  const faults = new Set<ActiveFault>();
  const listeners = new Set<(request: BlobRequest) => void>();
  const server = createServer((message, response) => {
    readAll(message)
      .then(async (body) => {
        const exchange = { seen: describe(message), message, body, response };
        const fault = [...faults].find((one) => one.takes(exchange.seen));
        await (fault ? act(target, agent, fault, exchange) : forward(target, agent, exchange, true));
        for (const listener of listeners) listener(exchange.seen);
      })
      .catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    endpoint,
    connectionString: options.connectionString.replaceAll(options.endpoint, endpoint),
    inject(rule) {
      const fault = new ActiveFault(rule);
      faults.add(fault);
      return fault;
    },
    onAnswered: (listener) => listeners.add(listener),
    async stop() {
      for (const fault of faults) fault.remove();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      agent.destroy();
      await closed;
    },
  };
}

function describe({ method = '', url = '/', headers }: IncomingMessage): Exchange['seen'] {
  const { pathname, searchParams } = new URL(url, 'http://storage');
  return { method, path: decodeURIComponent(pathname), query: searchParams, headers, status: undefined };
}

async function act(target: URL, agent: Agent, fault: ActiveFault, exchange: Exchange): Promise<void> {
  const { action } = fault.rule;
  const { response } = exchange;
  switch (action.kind) {
    case 'busy':
      return refuse(exchange, 503, 'ServerBusy');
    case 'refuse':
      return refuse(exchange, action.status, action.code);
    case 'hang':
      await fault.hold();
      if (!response.destroyed) await forward(target, agent, exchange, true);
      return;
    case 'drop-request':
      response.destroy();
      return;
    case 'drop-response':
      await forward(target, agent, exchange, false);
      response.destroy();
  }
}

function refuse({ response, seen, message }: Exchange, status: number, code: string): void {
  if (response.destroyed) return;
  seen.status = status;
  const body = `<?xml version="1.0" encoding="utf-8"?><Error><Code>${code}</Code><Message>injected</Message></Error>`;
  response.writeHead(status, { 'content-type': 'application/xml', 'x-ms-error-code': code });
  response.end(message.method === 'HEAD' ? undefined : body);
}

/** Resolves when the service has answered. A service that is down cuts the client's connection. */
function forward(target: URL, agent: Agent, exchange: Exchange, answer: boolean): Promise<void> {
  const { message, body, response, seen } = exchange;
  return new Promise((resolve) => {
    const cut = () => {
      response.destroy();
      resolve();
    };
    const upstream = request(
      {
        ...{ agent, host: target.hostname, port: target.port, method: message.method, path: message.url },
        headers: { ...message.headers, host: target.host },
      },
      (reply) => {
        readAll(reply).then((content) => {
          if (answer && !response.destroyed) {
            seen.status = reply.statusCode;
            const { connection: _connection, 'transfer-encoding': _chunked, ...headers } = reply.headers;
            const length = message.method === 'HEAD' ? {} : { 'content-length': content.length };
            response.writeHead(reply.statusCode ?? 502, { ...headers, ...length });
            response.end(content);
          }
          resolve();
        }, cut);
      },
    );
    upstream.on('error', cut);
    upstream.end(body);
  });
}

async function readAll(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk);
  return Buffer.concat(chunks);
}
