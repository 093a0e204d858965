/** The local storage account lets in tokens of identities that have the role, and nobody else. */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type StorageDoor, startStorageDoor } from '../../../stacks/local/sources/event-hubs/storage-door';
import { newAuthority } from '../../support/rds/certificates';

describe('the storage door', () => {
  const authority = newAuthority('a test');
  const arrived: IncomingMessage[] = [];
  let storage: Server;
  let door: StorageDoor;
  beforeAll(async () => {
    storage = createServer((message, response) => {
      arrived.push(message);
      response.end('blobs');
    });
    await new Promise<void>((resolve) => storage.listen(0, '127.0.0.1', resolve));
    door = await startStorageDoor({
      endpoint: `http://127.0.0.1:${(storage.address() as AddressInfo).port}`,
      connectionString: `AccountName=store;AccountKey=${Buffer.from('key').toString('base64')};`,
      certificate: authority.sign('127.0.0.1'),
      refuse: (token) => (token === 'good' ? undefined : 'no role'),
    });
  });
  afterAll(async () => {
    await door?.stop();
    await new Promise((resolve) => storage?.close(resolve));
  });

  const get = (authorization?: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const headers = authorization === undefined ? {} : { authorization };
      request(`${door.url}/checkpoints?comp=list`, { ca: authority.pem, headers }, (reply) => {
        reply.resume().once('end', () => resolve(reply.statusCode));
      })
        .once('error', reject)
        .end();
    });

  it.each([
    [undefined, 401],
    ['SharedKey store:abc', 401],
    ['Bearer bad', 403],
  ])('refuses %s', async (authorization, status) => {
    const before = arrived.length;
    expect(await get(authorization)).toBe(status);
    expect(arrived).toHaveLength(before);
  });

  it('passes a good token on, signed anew and without the token', async () => {
    expect(await get('Bearer good')).toBe(200);
    const { url, headers } = arrived.at(-1) ?? {};
    expect(url).toMatch(/^\/store\/checkpoints\?comp=list&.*sig=/);
    expect(headers?.authorization).toBeUndefined();
  });
});
