/** Where the ledger is and how to log in. */
import { type DatabaseLogin, readLogin } from './database-login';
import { type FromUrl, fromUrl } from './database-url';
import { isLoopback, type Reader } from './reader';

export interface DatabaseConfig {
  /** Host name, address, or the folder of a unix socket (begins with a slash). Absent: the login's secret says it. */
  readonly host?: string;
  /** Absent: the login's secret says it, or it is 5432. */
  readonly port?: number;
  /** Absent: the login's secret says it, or it is named like the user. */
  readonly database?: string;
  /** Absent: the login's secret says it. */
  readonly user?: string;
  readonly login: DatabaseLogin;
  readonly tls: { readonly mode: 'verify-full'; readonly rootCertFile?: string } | { readonly mode: 'disable' };
  /** What a person is told to run when the schema is too old. */
  readonly migrateCommand: string;
}

/** What brings the schema up to date where nobody has said another way. */
export const DEFAULT_MIGRATE_COMMAND = 'chargeonce migrate --apply';

export function readDatabase(reader: Reader): DatabaseConfig {
  const url = fromUrl(reader);
  const login = readLogin(reader, url);
  const place = readPlace(reader, url, login);
  return {
    ...place,
    login,
    tls: readTls(reader, place.host, url, login),
    migrateCommand: reader.optional('MIGRATE_COMMAND') ?? DEFAULT_MIGRATE_COMMAND,
  };
}

type Place = Pick<DatabaseConfig, 'host' | 'port' | 'database' | 'user'>;

function readPlace(reader: Reader, url: FromUrl, login: DatabaseLogin): Place {
  const host = url.host ?? reader.optional('PGHOST');
  const database = url.database ?? reader.optional('PGDATABASE');
  const port = readPort(reader, url.port);
  if (login.method === 'secret') {
    return {
      ...(host === undefined ? {} : { host }),
      ...(port === undefined ? {} : { port }),
      ...(database === undefined ? {} : { database }),
    };
  }
  if (host === undefined && reader.optional('DATABASE_URL') === undefined) {
    reader.problem('DATABASE_URL', {
      allowed: 'postgres://user@host:5432/database, or PGHOST with PGUSER and PGDATABASE',
      wayOut: 'Say where the ledger is.',
    });
  }
  const user = url.user ?? reader.optional('PGUSER') ?? '';
  if (user === '' && host !== undefined) {
    reader.problem('PGUSER', { allowed: 'a database role', wayOut: 'Set it, or put it into DATABASE_URL.' });
  }
  return { host: host ?? '', port: port ?? 5432, database: database ?? user, user };
}

function readPort(reader: Reader, fromAddress: string | undefined): number | undefined {
  if (fromAddress !== undefined) return Number(fromAddress);
  if (reader.optional('PGPORT') === undefined) return undefined;
  return reader.number('PGPORT', { min: 1, max: 65535, fallback: 5432, unit: 'a TCP port' });
}

function readTls(reader: Reader, host: string | undefined, url: FromUrl, login: DatabaseLogin): DatabaseConfig['tls'] {
  const name = url.sslMode === undefined ? 'PGSSLMODE' : 'DATABASE_URL';
  const mode = url.sslMode ?? reader.optional('PGSSLMODE') ?? 'verify-full';
  const rootCertFile = url.sslRootCert ?? reader.optional('PGSSLROOTCERT');
  const local = host !== undefined && (host === '' || host.startsWith('/') || isLoopback(host));
  if (mode === 'disable' && (login.method === 'rds-iam' || login.method === 'entra')) {
    reader.problem(
      name,
      {
        allowed: `verify-full with DATABASE_AUTH=${login.method}`,
        wayOut: 'Leave it out: a token that is sent in the clear, or to whoever asks, can be used by others.',
      },
      mode,
    );
  } else if (mode === 'disable' && local) {
    return { mode: 'disable' };
  } else if (mode !== 'verify-full') {
    reader.problem(
      name,
      {
        allowed: 'verify-full; disable only for a server on this machine (loopback or unix socket)',
        wayOut:
          'Leave it out, and name a private CA with PGSSLROOTCERT: a ledger that is not verified can be imitated.',
      },
      mode,
    );
  }
  return { mode: 'verify-full', ...(rootCertFile === undefined ? {} : { rootCertFile }) };
}
