import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { DynamoDBClient, GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AwsFaultProxy, startAwsFaultProxy } from '../support/aws-fault-proxy';
import { createLeaseTable, useLocalCredentials } from '../support/aws-local';
import { until } from '../support/until';
import { type RunningDynamoDb, startDynamoDb } from './dynamodb';
import { startKinesis } from './kinesis';

const connects = (host: string, port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect({ host, port, timeout: 2_000 });
    const answer = (open: boolean) => {
      socket.destroy();
      resolve(open);
    };
    socket.once('connect', () => answer(true));
    socket.once('error', () => answer(false));
    socket.once('timeout', () => answer(false));
  });

/** A process that has ended but that nobody has waited for does not run. */
function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return !existsSync(`/proc/${pid}/stat`) || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
}

describe('the Kinesis emulator', () => {
  it('listens on loopback alone, and its process is gone when it was stopped', async () => {
    const kinesis = await startKinesis();
    const { hostname, port } = new URL(kinesis.endpoint);
    expect(hostname).toBe('127.0.0.1');
    expect(await connects('127.0.0.1', Number(port))).toBe(true);
    const outward = Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .filter((address) => !address.internal && address.family === 'IPv4');
    for (const { address } of outward) expect(await connects(address, Number(port))).toBe(false);
    await kinesis.stop();
    await kinesis.stop();
    expect(await connects('127.0.0.1', Number(port))).toBe(false);
  });

  it('ends when the process that started it is killed', async () => {
    const program = `
      require('tsx/cjs');
      require('./test/emulators/kinesis').startKinesis().then(({ pid }) => console.log(pid));
    `;
    const parent = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'ignore'] });
    const line = await new Promise<string>((resolve) => parent.stdout.once('data', (text) => resolve(`${text}`)));
    const pid = Number(line);
    expect(runs(pid)).toBe(true);
    parent.kill('SIGKILL');
    await until('the emulator is gone', () => !runs(pid));
  });
});

describe('the fault proxy', () => {
  let dynamodb: RunningDynamoDb;
  let proxy: AwsFaultProxy;
  let client: DynamoDBClient;
  beforeAll(async () => {
    useLocalCredentials();
    dynamodb = await startDynamoDb();
    proxy = await startAwsFaultProxy({ target: dynamodb.endpoint });
    const requestHandler = new NodeHttpHandler({ requestTimeout: 1_000, throwOnRequestTimeout: true });
    client = new DynamoDBClient({ endpoint: proxy.endpoint, region: 'us-east-1', maxAttempts: 1, requestHandler });
    await createLeaseTable(client, 'table');
  });
  afterAll(async () => {
    client.destroy();
    await proxy.stop();
    await dynamodb.stop();
  });
  beforeEach(() => proxy.clear());

  const key = (name: string) => ({ leaseKey: { S: name } });
  const add = (name: string) =>
    client.send(
      new UpdateItemCommand({
        TableName: 'table',
        Key: key(name),
        UpdateExpression: 'ADD n :one',
        ExpressionAttributeValues: { ':one': { N: '1' } },
      }),
    );
  const value = async (name: string) =>
    Number((await client.send(new GetItemCommand({ TableName: 'table', Key: key(name) }))).Item?.n?.N ?? 0);

  it('passes on what no rule is about, and counts it', async () => {
    const before = proxy.requests.get('UpdateItem') ?? 0;
    proxy.inject({ operation: 'GetShardIterator', action: { kind: 'throttle' } });
    await add('plain');
    expect(await value('plain')).toBe(1);
    expect(proxy.requests.get('UpdateItem')).toBe(before + 1);
  });

  it('throttles as often as it is told, only what matches', async () => {
    const fault = proxy.inject({
      operation: 'UpdateItem',
      times: 2,
      matches: (body) => JSON.stringify(body.Key).includes('hot'),
      action: { kind: 'throttle' },
    });
    await expect(add('hot')).rejects.toMatchObject({ name: 'ProvisionedThroughputExceededException' });
    await add('cold');
    await expect(add('hot')).rejects.toMatchObject({ name: 'ProvisionedThroughputExceededException' });
    await add('hot');
    expect(fault.hits).toBe(2);
    expect(await value('hot')).toBe(1);
  });

  it('refuses with any error', async () => {
    proxy.inject({ action: { kind: 'refuse', status: 500, type: 'InternalServerError' }, times: 1 });
    await expect(add('refused')).rejects.toMatchObject({ name: 'InternalServerError' });
    expect(await value('refused')).toBe(0);
  });

  it('loses the request, or the answer of one that was applied', async () => {
    proxy.inject({ action: { kind: 'drop-request' }, times: 1 });
    await expect(add('lost')).rejects.toThrow();
    expect(await value('lost')).toBe(0);
    proxy.inject({ action: { kind: 'drop-response' }, times: 1 });
    await expect(add('lost')).rejects.toThrow();
    expect(await value('lost')).toBe(1);
  });

  it('holds everything until it is released; what nobody waits for any more is not applied', async () => {
    const block = proxy.block();
    await expect(add('held')).rejects.toMatchObject({ name: 'TimeoutError' });
    const waiting = add('held');
    await until('both are held', () => block.hits === 2);
    block.release();
    await waiting;
    expect(await value('held')).toBe(1);
  });

  it('lets a request arrive late, after its sender gave up', async () => {
    const late = proxy.inject({ operation: 'UpdateItem', action: { kind: 'hang', late: true } });
    await expect(add('late')).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(await value('late')).toBe(0);
    late.remove();
    await until('it has arrived', async () => (await value('late')) === 1);
  });
});
