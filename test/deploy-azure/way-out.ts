/** A proxy that lets nothing through and remembers what was asked of it: what would have left this machine. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface WayOut {
  readonly environment: Readonly<Record<string, string>>;
  /** `host:port` or the address of every request so far. */
  readonly asked: readonly string[];
  stop(): void;
}

export async function startWayOut(): Promise<WayOut> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.writeHead(403).end();
  });
  server.on('connect', (request, socket) => {
    asked.push(request.url ?? '');
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxy = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const loopback = '127.0.0.1,localhost';
  const lower = { http_proxy: proxy, https_proxy: proxy, all_proxy: proxy, no_proxy: loopback };
  const upper = { HTTP_PROXY: proxy, HTTPS_PROXY: proxy, ALL_PROXY: proxy, NO_PROXY: loopback };
  return {
    environment: { ...lower, ...upper },
    asked,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
