/** DynamoDB on this machine: dynalite in this process, in memory, on loopback and a free port. */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface RunningDynamoDb {
  readonly endpoint: string;
  stop(): Promise<void>;
}

/** The package brings no types. */
type Dynalite = (options: { createTableMs: number; deleteTableMs: number; updateTableMs: number }) => Server;

export async function startDynamoDb(): Promise<RunningDynamoDb> {
  const dynalite: Dynalite = require('dynalite');
  const server = dynalite({ createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve());
  });
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
