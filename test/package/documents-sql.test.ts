/** The SQL that people on call are told to type works on the ledger, as the users that it is meant for. */
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrate } from '../../runtime/ledger';
import { type PostgresServer, startPostgres } from '../emulators/postgres';
import { codeBlocks, documents } from './documents';

const page = documents().get('docs/operations.md')!;
const roles = codeBlocks('operations.md', page, 'sql');
const queries = [...page.matchAll(/`(SELECT [^`]+)`/g)].map((match) => match[1]!);

describe('SQL in docs/operations.md', () => {
  let postgres: PostgresServer;
  let reader: Client;
  beforeAll(async () => {
    postgres = await startPostgres();
    await postgres.createDatabase('ledger');
    const url = postgres.url('ledger');
    await migrate({ connection: { url } });
    const owner = new Client({ connectionString: url });
    await owner.connect();
    await owner.query('CREATE ROLE rds_iam');
    for (const { code } of roles) await owner.query(code);
    await owner.end();
    reader = new Client({ connectionString: url });
    await reader.connect();
    await reader.query('SET ROLE billing_reader');
  }, 120_000);
  afterAll(async () => {
    await reader?.end();
    await postgres?.stop();
  });

  it('is found', () => {
    expect(roles).toHaveLength(1);
    expect(queries.length).toBeGreaterThanOrEqual(5);
  });

  it.each(queries)('%s', async (query) => {
    await expect(reader.query(query)).resolves.toBeDefined();
  });

  it('lets nobody change anything', async () => {
    await expect(reader.query('DELETE FROM billing_records')).rejects.toThrow('permission denied');
  });
});
