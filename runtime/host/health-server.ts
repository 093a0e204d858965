/** `/healthz`, `/readyz` and `/metrics` on a small HTTP server that opens before anything else. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface HealthServerOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Nothing while the process deserves to live, otherwise why not. */
  live(): string | undefined;
  /** Nothing when ready, otherwise why not. */
  ready(): string | undefined;
  readonly metrics: { text(): Promise<string>; readonly contentType: string };
}

export interface HealthServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Rejects with the system's reason when the port cannot be had. */
export async function startHealthServer(options: HealthServerOptions): Promise<HealthServer> {
  const server = createServer((request, response) => {
    respond(options, request, response).catch(() => response.destroy());
  });
  server.requestTimeout = 5_000;
  server.headersTimeout = 5_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function respond(
  options: HealthServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = (request.url ?? '').split('?', 1)[0];
  if (request.method !== 'GET' && request.method !== 'HEAD') return send(response, 405, 'only GET\n');
  switch (path) {
    case '/healthz':
      return state(response, options.live());
    case '/readyz':
      return state(response, options.ready());
    case '/metrics':
      return send(response, 200, await options.metrics.text(), options.metrics.contentType);
    default:
      return send(response, 404, 'not found; try /healthz, /readyz or /metrics\n');
  }
}

function state(response: ServerResponse, whyNot: string | undefined): void {
  if (whyNot === undefined) send(response, 200, 'ok\n');
  else send(response, 503, `${whyNot}\n`);
}

function send(response: ServerResponse, status: number, body: string, type = 'text/plain; charset=utf-8'): void {
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' });
  response.end(body);
}
