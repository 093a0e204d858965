/** A relay of TCP connections that can be out of order: everything is cut, and nothing gets through until it is back. */
import { connect, createServer, type Server, type Socket } from 'node:net';

export interface OutageRelay {
  readonly port: number;
  /** Cuts every connection, and each new one at once. */
  cut(): Outage;
  stop(): Promise<void>;
}

export interface Outage {
  /** Connections that were cut, or came and found nobody. */
  readonly hits: number;
  end(): void;
}

export async function startOutageRelay(target: { readonly host: string; readonly port: number }): Promise<OutageRelay> {
  const sockets = new Set<Socket>();
  const outages = new Set<{ hits: number }>();
  const keep = (socket: Socket) => {
    sockets.add(socket);
    // Either side may go away at any time; the other one is told by the end of its stream.
    socket.on('error', () => socket.destroy()).once('close', () => sockets.delete(socket));
  };
  const server = createServer((client) => {
    const [outage] = outages;
    if (outage) {
      outage.hits += 1;
      client.on('error', () => undefined).destroy();
      return;
    }
    const upstream = connect(target.port, target.host);
    for (const socket of [client, upstream]) keep(socket);
    client.pipe(upstream).pipe(client);
    client.once('close', () => upstream.destroy());
    upstream.once('close', () => client.destroy());
  });
  const port = await listen(server);
  const cutAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port,
    cut() {
      const outage = { hits: sockets.size / 2, end: () => outages.delete(outage) };
      outages.add(outage);
      cutAll();
      return outage;
    },
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      cutAll();
      await closed;
    },
  };
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The relay has no port.');
  return address.port;
}
