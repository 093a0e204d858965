/** Through PgBouncer in transaction mode, where each statement may meet another server connection. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { migrate, SCHEMA_VERSION } from '../../runtime/ledger';
import { freePort } from '../emulators/free-port';
import { createDatabase, dropDatabase } from '../support/ledger-database';
import { claimWithIntent, openTestLedger, request } from './support';

const PATHS = `${process.env.PATH}${delimiter}/usr/sbin${delimiter}/usr/local/sbin`;
const found = spawnSync('pgbouncer', ['--version'], { env: { PATH: PATHS } }).status === 0;
if (!found) process.stderr.write('pgbouncer: not run here (no such program on PATH)\n');

const NOBODY = 65534;

describe.runIf(found)('through PgBouncer in transaction mode', () => {
  const name = `bounced_${process.pid}`;
  let folder: string;
  let bouncer: ChildProcess;
  let url: string;

  beforeAll(async () => {
    const server = new URL(inject('postgresUrl'));
    await createDatabase(server.href, name);
    folder = mkdtempSync(join(tmpdir(), 'chargeonce-pgbouncer-'));
    const port = await freePort();
    writeFileSync(join(folder, 'pgbouncer.ini'), settings(server, port));
    const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
    if (user.uid) for (const path of [folder, join(folder, 'pgbouncer.ini')]) chownSync(path, NOBODY, NOBODY);
    bouncer = spawn('pgbouncer', [join(folder, 'pgbouncer.ini')], {
      ...user,
      env: { PATH: PATHS },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    await new Promise<void>((resolve, reject) => {
      bouncer.once('exit', (code) => reject(new Error(`pgbouncer ended with ${code}`)));
      bouncer.stderr?.on('data', (chunk) => String(chunk).includes('process up') && resolve());
    });
    url = `postgres://client:any@127.0.0.1:${port}/ledger`;
  });
  afterAll(async () => {
    const ended = new Promise((resolve) => bouncer.once('exit', resolve));
    bouncer.kill('SIGINT');
    await ended;
    rmSync(folder, { recursive: true, force: true });
    await dropDatabase(inject('postgresUrl'), name);
  });

  function settings(server: URL, port: number): string {
    const target = `host=${server.hostname} port=${server.port} dbname=${name} user=${server.username}`;
    return [
      '[databases]',
      `ledger = ${target} password=${server.password}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = any',
      'pool_mode = transaction',
      'default_pool_size = 3',
      'max_client_conn = 200',
    ].join('\n');
  }

  test('migrations take turns, and a crowd of ledgers charges each identity once on three connections', async () => {
    const migrated = await Promise.all(Array.from({ length: 5 }, () => migrate({ connection: { url } })));
    expect(migrated.map(({ version }) => version)).toEqual(Array(5).fill(SCHEMA_VERSION));
    expect(migrated.filter(({ applied }) => applied.length > 0)).toHaveLength(1);

    const ledgers = Array.from({ length: 8 }, () => openTestLedger(url));
    await ledgers[0]?.bindAccount({ livemode: false, accountId: 'acct_1' });
    const charges = ledgers.map(async (ledger, number) => {
      for (let index = 0; index < 10; index += 1) {
        const row = await claimWithIntent(ledger, `c${number}-${index}`);
        expect(await ledger.settle(row, { status: 'charged', chargeId: 'ch' })).toBe(true);
      }
    });
    await Promise.all(charges);
    const crowd = await Promise.all(ledgers.map((ledger) => ledger.claim([request('crowd')])));
    expect(crowd.filter(([answer]) => answer?.outcome === 'mine')).toHaveLength(1);
    expect(await ledgers[0]?.claimDue(10)).toEqual([]);
    await Promise.all(ledgers.map((ledger) => ledger.close()));
  });
});
