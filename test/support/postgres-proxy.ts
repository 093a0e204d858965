/** A relay in front of PostgreSQL that can lose an answer: the server has committed, the client never hears of it. */
import { connect, createServer, type Server, type Socket } from 'node:net';

export interface PostgresProxy {
  /** The database's url through the relay. */
  readonly url: string;
  /** How many answers were lost. */
  readonly lost: number;
  /** Connections of clients that are open now. */
  readonly open: number;
  /** Loses the answer to the next statement that contains the text, and the connection with it. */
  loseAnswerTo(text: string): void;
  stop(): Promise<void>;
}

export async function startPostgresProxy(databaseUrl: string): Promise<PostgresProxy> {
  const target = new URL(databaseUrl);
  const state = { text: undefined as string | undefined, lost: 0 };
  const sockets = new Set<Socket>();
  const clients = new Set<Socket>();
  const server = createServer((client) => {
    clients.add(client);
    client.on('close', () => clients.delete(client));
    const upstream = connect(Number(target.port), target.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
      // One end that breaks takes the other with it; whoever uses it sees a closed connection.
      socket.on('error', () => socket.destroy());
    }
    relay(client, upstream, state);
  });
  const port = await listen(server);
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String(port);
  return {
    url: url.href,
    get open() {
      return clients.size;
    },
    get lost() {
      return state.lost;
    },
    loseAnswerTo(text) {
      state.text = text;
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function relay(client: Socket, upstream: Socket, state: { text: string | undefined; lost: number }): void {
  let losing = false;
  client.on('data', (data) => {
    if (state.text !== undefined && data.includes(state.text)) {
      state.text = undefined;
      losing = true;
    }
    upstream.write(data);
  });
  upstream.on('data', (data) => {
    if (!losing) {
      client.write(data);
      return;
    }
    // ReadyForQuery: the statement is committed.
    if (!data.subarray(-6, -1).equals(Buffer.from([0x5a, 0, 0, 0, 5]))) return;
    state.lost++;
    client.destroy();
    upstream.destroy();
  });
  client.on('close', () => upstream.destroy());
  upstream.on('close', () => client.destroy());
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      if (address === null || typeof address === 'string') reject(new Error('The relay has no port'));
      else resolve(address.port);
    });
  });
}
