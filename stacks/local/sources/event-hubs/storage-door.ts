/**
 * The front of a storage account that takes no keys: TLS, and a token of an identity that has the role. What it lets
 * through goes to the storage behind it, under a signature of its own.
 */
import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import {
  AccountSASPermissions,
  AccountSASResourceTypes,
  AccountSASServices,
  generateAccountSASQueryParameters,
  StorageSharedKeyCredential,
} from '@azure/storage-blob';
import { systemHost } from '../../../../runtime/host';

export interface StorageDoorOptions {
  /** Of the storage, or of a proxy in front of it: `http://127.0.0.1:<port>`. */
  readonly endpoint: string;
  /** With the account's key. */
  readonly connectionString: string;
  readonly certificate: { readonly key: string; readonly cert: string };
  /** Why the token opens nothing; undefined when it does. */
  readonly refuse: (token: string) => string | undefined;
}

export interface StorageDoor {
  /** With the account's name in it. */
  readonly url: string;
  /** Requests that were refused. */
  readonly refused: number;
  stop(): Promise<void>;
}

const DAY_MS = 24 * 3_600_000;

export async function startStorageDoor(options: StorageDoorOptions): Promise<StorageDoor> {
  const { certificate, connectionString } = options;
  const [, account = '', key = ''] = /AccountName=([^;]+);AccountKey=([^;]+)/.exec(connectionString) ?? [];
  const signature = generateAccountSASQueryParameters(
    {
      expiresOn: new Date(systemHost.now() + DAY_MS),
      permissions: AccountSASPermissions.parse('rwdlacup'),
      services: AccountSASServices.parse('b').toString(),
      resourceTypes: AccountSASResourceTypes.parse('sco').toString(),
    },
    new StorageSharedKeyCredential(account, key),
  ).toString();
  let refused = 0;
  const server = createServer(certificate, (message, response) => {
    const token = /^Bearer (.+)$/.exec(message.headers.authorization ?? '')?.[1];
    const reason = token === undefined ? 'there is no token' : options.refuse(token);
    if (reason === undefined) return pass(options.endpoint, signature, message, response);
    refused += 1;
    const status = token === undefined ? 401 : 403;
    response.writeHead(status, { 'x-ms-error-code': 'AuthorizationPermissionMismatch' }).end(reason);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/${account}`,
    get refused() {
      return refused;
    },
    async stop() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

function pass(endpoint: string, signature: string, message: IncomingMessage, response: ServerResponse): void {
  const { authorization: _token, ...headers } = message.headers;
  const url = new URL(message.url ?? '/', endpoint);
  const path = `${url.pathname}${url.search === '' ? '?' : `${url.search}&`}${signature}`;
  const upstream = request(
    { host: url.hostname, port: url.port, method: message.method, path, headers: { ...headers, host: url.host } },
    (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.on('error', () => response.destroy()).pipe(response);
    },
  );
  upstream.on('error', () => response.destroy());
  // Who hung up wants no answer, and a request that is still held shall not be made any more.
  response.on('close', () => upstream.destroy());
  message.pipe(upstream);
}
