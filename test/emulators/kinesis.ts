/** Kinesis on this machine: `kinesis-local` as a child process, on loopback and a free port. */
import { type ChildProcess, spawn } from 'node:child_process';
import { dirname } from 'node:path';
import { KinesisClient, ListStreamsCommand } from '@aws-sdk/client-kinesis';
import { NodeHttpHandler } from '@smithy/node-http-handler';

export interface RunningEmulator {
  /** Plain HTTP/1.1: clients need a NodeHttpHandler, since the SDK's default for Kinesis speaks HTTP/2. */
  readonly endpoint: string;
  /** Of the emulator's process. */
  readonly pid: number;
  stop(): Promise<void>;
}

/** Never bound: they only tell the prelude which of its two servers is which. */
const PLAIN_PORT = 1;
const TLS_PORT = 2;

/**
 * The emulator listens on all interfaces and on ports it must be told beforehand. This prelude, run in its
 * process before it, binds it to loopback, lets the system choose the ports, tells the plain one to the parent,
 * and ends the process when the parent is gone.
 */
const PRELUDE = `
const net = require('node:net');
const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (port, ...rest) {
  const ready = rest.find((argument) => typeof argument === 'function');
  this.once('listening', () => {
    if (port === ${PLAIN_PORT}) process.send({ port: this.address().port });
  });
  return listen.call(this, 0, '127.0.0.1', ready);
};
// Not exit(): the emulator takes that over, closes its servers and then stays.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
require('./main.js');
`;

/** Starts it and waits until it answers a real call. */
export async function startKinesis(): Promise<RunningEmulator> {
  // It reads its certificate from its working directory.
  const folder = dirname(require.resolve('kinesis-local/package.json'));
  const child = spawn(process.execPath, ['-e', PRELUDE], {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      KINESIS_MOCK_PLAIN_PORT: String(PLAIN_PORT),
      KINESIS_MOCK_TLS_PORT: String(TLS_PORT),
      LOG_LEVEL: 'ERROR',
      SHARD_LIMIT: '500',
      CREATE_STREAM_DURATION: '50ms',
      DELETE_STREAM_DURATION: '50ms',
      SPLIT_SHARD_DURATION: '50ms',
      MERGE_SHARDS_DURATION: '50ms',
      UPDATE_SHARD_COUNT_DURATION: '50ms',
    },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const stop = stopper(child);
  try {
    const endpoint = `http://127.0.0.1:${await announcedPort(child)}`;
    await answers(endpoint);
    return { endpoint, pid: child.pid ?? 0, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function stopper(child: ChildProcess): () => Promise<void> {
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  return async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await gone;
  };
}

function announcedPort(child: ChildProcess): Promise<number> {
  let errors = '';
  child.stderr?.on('data', (chunk) => {
    errors = `${errors}${chunk}`.slice(-2_000);
  });
  return new Promise((resolve, reject) => {
    child.on('message', (message) => {
      if (typeof message === 'object' && message !== null && 'port' in message) resolve(Number(message.port));
    });
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`kinesis-local ended with ${code} before it listened: ${errors}`)));
  });
}

async function answers(endpoint: string): Promise<void> {
  const client = new KinesisClient({
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    maxAttempts: 8,
    requestHandler: new NodeHttpHandler({ connectionTimeout: 1_000, requestTimeout: 10_000 }),
  });
  try {
    await client.send(new ListStreamsCommand({}));
  } finally {
    client.destroy();
  }
}
