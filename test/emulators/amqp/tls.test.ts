/** Clients with a token credential: TLS, tokens that are looked at, links that are refused without a good one. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newAuthority } from '../../support/rds/certificates';
import { type AmqpBroker, startAmqpBroker } from '.';

const NAMESPACE = 'contoso.servicebus.windows.net';
const folder = mkdtempSync(join(tmpdir(), 'chargeonce-amqp-'));
const authority = newAuthority('local');
let broker: AmqpBroker;
beforeAll(async () => {
  writeFileSync(join(folder, 'ca.pem'), authority.pem);
  const verifyToken = async ({ token }: { token: string }) => token === 'good';
  broker = await startAmqpBroker({ tls: authority.sign('127.0.0.1'), verifyToken });
  broker.createHub('usage', { partitions: 1 });
});
afterAll(async () => {
  await broker.close();
  rmSync(folder, { recursive: true });
});

/** A process of its own, since what authorities a process trusts is settled at its start. */
async function publish(token: string, trusted = true): Promise<string> {
  const script = `
    const { EventHubProducerClient } = require('@azure/event-hubs');
    const credential = { getToken: async () => ({ token: '${token}', expiresOnTimestamp: Date.now() + 3600000 }) };
    const client = new EventHubProducerClient('${NAMESPACE}', 'usage', credential, {
      customEndpointAddress: '${broker.tlsAddress}',
      retryOptions: { maxRetries: 0, timeoutInMs: 3000 },
    });
    client.sendBatch([{ body: 1 }])
      .then(() => client.getPartitionProperties('0'))
      .then(({ lastEnqueuedSequenceNumber }) => console.log('last', lastEnqueuedSequenceNumber))
      .catch(({ code, message }) => console.log(code, message))
      .finally(() => client.close().catch(() => undefined).then(() => process.exit()));
  `;
  const env = { PATH: process.env.PATH, ...(trusted ? { NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') } : {}) };
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', script], { cwd: __dirname, env });
  return stdout.trim();
}

it('takes a credential’s token for what it is for, over TLS', async () => {
  expect(await publish('good')).toBe('last 0');
  const put = { type: 'jwt', token: 'good' };
  expect(broker.tokens).toContainEqual({ ...put, audience: `sb://${NAMESPACE}/usage` });
  expect(broker.tokens).toContainEqual({ ...put, audience: `sb://${NAMESPACE}/usage/$management` });
});

it('refuses a bad token, and keeps nothing', async () => {
  const before = broker.hubs.get('usage')?.partitions.get('0')?.end;
  expect(await publish('bad')).toMatch(/^UnauthorizedError InvalidSignature/);
  expect(broker.hubs.get('usage')?.partitions.get('0')?.end).toBe(before);
});

it('shows a certificate that nobody trusts who was not told to', async () => {
  expect(await publish('good', false)).toMatch(/certificate|ECONN|self/i);
});
