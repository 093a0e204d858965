/** A proxy in front of PostgreSQL that loses answers: the server does the work, the client never hears of it. */
import { connect, createServer, type Socket } from 'node:net';

export interface LossyProxy {
  readonly port: number;
  /** The answer to the next statement that holds the text is lost, and its connection with it. */
  loseAnswerTo(text: string): void;
  /** Answers that were lost. */
  readonly lost: number;
  close(): Promise<void>;
}

export async function lossyProxy(host: string, port: number): Promise<LossyProxy> {
  let wanted: string | undefined;
  let lost = 0;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(port, host);
    let losing = false;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => sockets.delete(socket));
    }
    client.on('data', (chunk) => {
      if (wanted !== undefined && chunk.includes(wanted)) {
        wanted = undefined;
        losing = true;
      }
      upstream.write(chunk);
    });
    upstream.on('data', (chunk) => {
      if (!losing) client.write(chunk);
      else if (endsStatement(chunk)) {
        lost += 1;
        client.destroy();
        upstream.destroy();
      }
    });
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    loseAnswerTo(text) {
      wanted = text;
    },
    get lost() {
      return lost;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** ReadyForQuery, outside a transaction: the statement has committed. */
function endsStatement(chunk: Buffer): boolean {
  return chunk.subarray(-6).equals(Buffer.from([0x5a, 0, 0, 0, 5, 0x49]));
}
