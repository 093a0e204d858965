/**
 * In a database whose encoding is not UTF8, the first event with a character that it cannot hold fails every statement
 * it is part of, for ever: its partition stands still, and the reconciler has nothing to find. Such a database is
 * refused before the first event.
 */
import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { expect, inject, it } from 'vitest';
import { migrate } from '../../runtime/ledger';
import { databaseUrl, dropDatabase } from '../support/ledger-database';

it.each(['LATIN1', 'SQL_ASCII'])('refuses to migrate a database in %s', async (encoding) => {
  const server = inject('postgresUrl');
  const name = `test_${randomBytes(6).toString('hex')}`;
  const admin = new Client({ connectionString: server });
  await admin.connect();
  await admin.query(`CREATE DATABASE "${name}" TEMPLATE template0 ENCODING '${encoding}' LOCALE 'C'`);
  try {
    const connection = { url: databaseUrl(server, name) };
    for (const plan of [true, false]) {
      await expect(migrate({ connection, plan })).rejects.toThrow(`encoding is ${encoding}`);
    }
  } finally {
    await admin.end();
    await dropDatabase(server, name);
  }
});
