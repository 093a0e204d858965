import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { expect, test } from 'vitest';
import { startPostgres } from './postgres';

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

const alive = (pid: number) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};
const serverPid = (dataDirectory: string) =>
  Number(readFileSync(join(dataDirectory, 'postmaster.pid'), 'utf8').split('\n')[0]);

test('it listens on loopback alone, copies databases, survives a crash, and leaves nothing behind', async () => {
  const lines: string[] = [];
  const server = await startPostgres({ flags: ['max_connections=17'], log: (line) => lines.push(line) });
  const pid = serverPid(server.dataDirectory);
  const [row] = await query(
    server.url('postgres'),
    "SELECT current_setting('listen_addresses') AS listen, current_setting('max_connections') AS most",
  );
  expect(row).toEqual({ listen: '127.0.0.1', most: '17' });
  await server.createDatabase('one');
  await query(server.url('one'), 'CREATE TABLE t AS SELECT 1 AS x');
  await server.createDatabase('two', 'one');
  await server.restart();
  expect(await query(server.url('two'), 'SELECT x FROM t')).toEqual([{ x: 1 }]);
  expect(lines.join('\n')).toContain('ready to accept connections');
  await server.stop();
  expect(alive(pid)).toBe(false);
  expect(existsSync(server.dataDirectory)).toBe(false);
});

test('a data directory that was named is kept, and used again', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'chargeonce-kept-'));
  try {
    for (const expected of [[], [{ datname: 'kept' }]]) {
      const server = await startPostgres({ dataDirectory: folder });
      const found = "SELECT datname FROM pg_database WHERE datname = 'kept'";
      expect(await query(server.url('postgres'), found)).toEqual(expected);
      if (expected.length === 0) await server.createDatabase('kept');
      await server.stop();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('a server whose parent was killed does not survive it', async () => {
  const script = `require(${JSON.stringify(join(__dirname, 'postgres.ts'))}).startPostgres().then((server) => {
    const pid = require('node:fs').readFileSync(server.dataDirectory + '/postmaster.pid', 'utf8').split('\\n')[0];
    console.log(JSON.stringify({ pid: Number(pid), folder: server.dataDirectory }));
    process.kill(process.pid, 'SIGKILL');
  })`;
  const said = await new Promise<string>((resolve) => {
    execFile(process.execPath, ['--import', 'tsx', '-e', script], (_error, stdout) => resolve(stdout));
  });
  const { pid, folder } = JSON.parse(said) as { pid: number; folder: string };
  while (alive(pid) || existsSync(folder)) await new Promise((resolve) => setTimeout(resolve, 20));
});

test('a setting the server does not know fails the start, in its own words', async () => {
  await expect(startPostgres({ flags: ['no_such_setting=1'] })).rejects.toThrow(/no_such_setting/);
});
