/**
 * A loopback HTTP proxy in front of one AWS endpoint that does to requests what the network and the service
 * do on a bad day. Several rules may be active; the first that matches a request decides about it.
 */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type FaultAction =
  /** Answers 400 ProvisionedThroughputExceededException; nothing is applied. */
  | { readonly kind: 'throttle' }
  /** Answers this status with this error type; nothing is applied. */
  | { readonly kind: 'refuse'; readonly status: number; readonly type: string; readonly message?: string }
  /**
   * Holds the request until the fault is removed, or for `ms`; then it goes on to the service, unless the client
   * has hung up. With `late` it goes on even then, as a packet that was under way does.
   */
  | { readonly kind: 'hang'; readonly ms?: number; readonly late?: boolean }
  /** Cuts the connection; nothing is applied. */
  | { readonly kind: 'drop-request' }
  /** The service applies the request; its answer is lost. */
  | { readonly kind: 'drop-response' };

export interface FaultRule {
  /** Name of the operation (`UpdateItem`, `GetRecords`). Absent: every operation. */
  readonly operation?: string;
  /** Looks into the request's JSON body. Absent: every request of the operation. */
  readonly matches?: (body: Readonly<Record<string, unknown>>) => boolean;
  readonly action: FaultAction;
  /** The rule ends after so many hits. Absent: it stays until it is removed. */
  readonly times?: number;
}

export interface InjectedFault {
  /** Requests that met this fault. */
  readonly hits: number;
  /** Ends the fault and lets held requests go on. */
  remove(): void;
}

export interface AwsFaultProxy {
  readonly endpoint: string;
  inject(rule: FaultRule): InjectedFault;
  /** Holds every request until released: an outage that answers nothing. */
  block(): { readonly hits: number; release(): void };
  /** Ends every fault. */
  clear(): void;
  /** Requests that arrived, by operation, whatever became of them. */
  readonly requests: ReadonlyMap<string, number>;
  stop(): Promise<void>;
}

interface Incoming {
  readonly operation: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly response: ServerResponse;
}

class ActiveFault implements InjectedFault {
  hits = 0;
  ended = false;
  private readonly held = new Set<() => void>();

  constructor(readonly rule: FaultRule) {}

  takes(incoming: Incoming): boolean {
    const { operation, matches, times } = this.rule;
    if (this.ended || (times !== undefined && this.hits >= times)) return false;
    if (operation !== undefined && operation !== incoming.operation) return false;
    if (matches && !matches(JSON.parse(incoming.body.toString('utf8')))) return false;
    this.hits++;
    return true;
  }

  /** Resolves when the fault is removed or the time is over. */
  hold(ms: number | undefined): Promise<void> {
    return new Promise((resolve) => {
      const timer = ms === undefined ? undefined : setTimeout(() => release(), ms);
      const release = () => {
        clearTimeout(timer);
        this.held.delete(release);
        resolve();
      };
      this.held.add(release);
    });
  }

  remove(): void {
    this.ended = true;
    for (const release of [...this.held]) release();
  }
}

export async function startAwsFaultProxy(options: { readonly target: string }): Promise<AwsFaultProxy> {
  const target = new URL(options.target);
  const requests = new Map<string, number>();
  const faults = new Set<ActiveFault>();
  const server = createServer((message, response) => {
    readAll(message).then((body) => {
      const operation = String(message.headers['x-amz-target'] ?? '').replace(/^.*\./, '');
      requests.set(operation, (requests.get(operation) ?? 0) + 1);
      const incoming = { operation, headers: message.headers, body, response };
      const fault = [...faults].find((one) => one.takes(incoming));
      return fault ? act(target, fault, incoming) : forward(target, incoming, true);
    }, response.destroy.bind(response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const clear = () => {
    for (const fault of faults) fault.remove();
    faults.clear();
  };
  const inject = (rule: FaultRule): ActiveFault => {
    const fault = new ActiveFault(rule);
    faults.add(fault);
    return fault;
  };
  return {
    endpoint: `http://127.0.0.1:${port}`,
    requests,
    clear,
    inject,
    block: () => {
      const fault = inject({ action: { kind: 'hang' } });
      return {
        get hits() {
          return fault.hits;
        },
        release: () => fault.remove(),
      };
    },
    stop: () =>
      new Promise((resolve) => {
        clear();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function act(target: URL, fault: ActiveFault, incoming: Incoming): Promise<void> {
  const { action } = fault.rule;
  const { response } = incoming;
  switch (action.kind) {
    case 'throttle':
      return refuse(response, 400, 'ProvisionedThroughputExceededException', 'The level of throughput was exceeded.');
    case 'refuse':
      return refuse(response, action.status, action.type, action.message ?? 'injected');
    case 'hang':
      await fault.hold(action.ms);
      if (!response.destroyed || action.late) await forward(target, incoming, true);
      return;
    case 'drop-request':
      response.destroy();
      return;
    case 'drop-response':
      await forward(target, incoming, false);
      response.destroy();
      return;
  }
}

function refuse(response: ServerResponse, status: number, type: string, message: string): void {
  if (response.destroyed) return;
  response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1', 'x-amzn-errortype': type });
  response.end(JSON.stringify({ __type: type, message }));
}

/** Resolves when the service has answered. An endpoint that is down cuts the client's connection. */
function forward(target: URL, incoming: Incoming, answer: boolean): Promise<void> {
  const { response } = incoming;
  return new Promise((resolve) => {
    const upstream = request(
      {
        host: target.hostname,
        port: target.port,
        method: 'POST',
        path: '/',
        headers: { ...incoming.headers, host: target.host, 'content-length': incoming.body.length },
        agent: false,
      },
      (reply) => {
        readAll(reply).then((body) => {
          if (answer && !response.destroyed) {
            const { 'transfer-encoding': _chunked, connection: _connection, ...headers } = reply.headers;
            response.writeHead(reply.statusCode ?? 502, { ...headers, 'content-length': body.length });
            response.end(body);
          }
          resolve();
        }, resolve);
      },
    );
    upstream.on('error', () => {
      response.destroy();
      resolve();
    });
    upstream.end(incoming.body);
  });
}

async function readAll(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk);
  return Buffer.concat(chunks);
}
