/** From the configuration to what the ledger connects with: files are read here. */
import { readFile } from 'node:fs/promises';
import type { DatabaseConfig } from '../config';
import type { LedgerConnection } from '../ledger/connection';

/** Rejects when the file of PGSSLROOTCERT cannot be read. A password file is read anew for every connection. */
export async function ledgerConnection(database: DatabaseConfig): Promise<LedgerConnection> {
  const { host, port, user, database: name, password, passwordFile, tls } = database;
  const login = passwordFile === undefined ? password : async () => (await readFile(passwordFile, 'utf8')).trimEnd();
  return {
    host,
    port,
    user,
    database: name,
    ...(login === undefined ? {} : { password: login }),
    ssl: tls.mode === 'disable' ? false : { mode: 'verify-full', ...(await authority(tls.rootCertFile)) },
  };
}

async function authority(file: string | undefined): Promise<{ ca?: string }> {
  if (file === undefined) return {};
  const ca = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new Error(`PGSSLROOTCERT: cannot read ${file}`, { cause });
  });
  return { ca };
}
