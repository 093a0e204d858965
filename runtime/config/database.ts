/** Where the ledger is and how to log in. */
import { isLoopback, type Reader } from './reader';

export interface DatabaseConfig {
  /** Host name, address, or the folder of a unix socket (begins with a slash). */
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
  /** Absent: `passwordFile`, or a server that asks for none. */
  readonly password?: string;
  /** Read at every new connection, so that a rotated password needs no restart. Wins over `password`. */
  readonly passwordFile?: string;
  readonly tls: { readonly mode: 'verify-full'; readonly rootCertFile?: string } | { readonly mode: 'disable' };
}

interface FromUrl {
  host?: string | undefined;
  port?: string | undefined;
  database?: string | undefined;
  user?: string | undefined;
  password?: string | undefined;
  sslMode?: string | undefined;
  sslRootCert?: string | undefined;
}

const URL_FAULT = {
  allowed: 'postgres://user@host:5432/database, with sslmode and sslrootcert as the only other options',
  wayOut: 'Percent-encode special characters of user and password, or use PGHOST, PGUSER, PGDATABASE, PGPASSWORD.',
};

export function readDatabase(reader: Reader): DatabaseConfig {
  const auth = reader.oneOf('DATABASE_AUTH', ['password', 'rds-iam', 'entra'] as const, 'password');
  if (auth !== 'password') {
    reader.problem('DATABASE_AUTH', {
      allowed: 'password',
      wayOut: `${auth} is not in this version: use a password with PGPASSWORD or PGPASSWORD_FILE.`,
    });
  }
  if (reader.optional('DATABASE_SECRET_ARN') !== undefined) {
    reader.problem('DATABASE_SECRET_ARN', {
      allowed: 'nothing in this version',
      wayOut: 'Let the platform inject the secret as PGPASSWORD, or mount it and set PGPASSWORD_FILE.',
    });
  }
  const url = fromUrl(reader);
  const host = url.host ?? reader.optional('PGHOST') ?? '';
  if (host === '' && reader.optional('DATABASE_URL') === undefined) {
    reader.problem('DATABASE_URL', {
      allowed: 'postgres://user@host:5432/database, or PGHOST with PGUSER and PGDATABASE',
      wayOut: 'Say where the ledger is.',
    });
  }
  const user = url.user ?? reader.optional('PGUSER') ?? '';
  if (user === '' && host !== '') {
    reader.problem('PGUSER', { allowed: 'a database role', wayOut: 'Set it, or put it into DATABASE_URL.' });
  }
  const password = url.password ?? reader.optional('PGPASSWORD');
  const passwordFile = reader.optional('PGPASSWORD_FILE');
  return {
    host,
    port: readPort(reader, url.port),
    database: url.database ?? reader.optional('PGDATABASE') ?? user,
    user,
    ...(password === undefined ? {} : { password }),
    ...(passwordFile === undefined ? {} : { passwordFile }),
    tls: readTls(reader, host, url),
  };
}

function readPort(reader: Reader, fromAddress: string | undefined): number {
  if (fromAddress !== undefined) return Number(fromAddress);
  return reader.number('PGPORT', { min: 1, max: 65535, fallback: 5432, unit: 'a TCP port' });
}

function fromUrl(reader: Reader): FromUrl {
  const value = reader.optional('DATABASE_URL');
  if (value === undefined) return {};
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const options = new Map(url?.searchParams ?? []);
  const [sslMode, sslRootCert, socket] = ['sslmode', 'sslrootcert', 'host'].map((name) => {
    const option = options.get(name);
    options.delete(name);
    return option;
  });
  const parts = url === undefined ? undefined : decodeParts(url);
  const scheme = url?.protocol ?? '';
  if (parts === undefined || !['postgres:', 'postgresql:'].includes(scheme) || options.size > 0) {
    // Where the password ends is anybody's guess in an address that cannot be read: nothing of it is shown.
    reader.problem('DATABASE_URL', URL_FAULT, value.replace(/^([a-z][a-z0-9+.-]*:\/\/)?.*$/is, '$1***'));
    return {};
  }
  const host = socket ?? parts.host;
  const other = reader.optional('PGHOST');
  if (other !== undefined && host !== undefined && other !== host) {
    reader.problem('PGHOST', {
      allowed: `nothing, or ${host} as in DATABASE_URL`,
      wayOut: 'Give the host once: two different ledgers must never be mixed up.',
    });
  }
  return { ...parts, host, sslMode, sslRootCert };
}

function decodeParts(url: URL): FromUrl | undefined {
  const [user, password, path] = [url.username, url.password, url.pathname.slice(1)].map(decoded);
  if (user === false || password === false || path === false) return undefined;
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  return {
    host: host === '' ? undefined : host,
    port: url.port === '' ? undefined : url.port,
    user,
    password,
    database: path,
  };
}

/** The text without percent escapes; nothing when empty; false when the escapes are broken. */
function decoded(text: string): string | undefined | false {
  if (text === '') return undefined;
  return /%(?![0-9a-fA-F]{2})/.test(text) ? false : decodeURIComponent(text);
}

function readTls(reader: Reader, host: string, url: FromUrl): DatabaseConfig['tls'] {
  const name = url.sslMode === undefined ? 'PGSSLMODE' : 'DATABASE_URL';
  const mode = url.sslMode ?? reader.optional('PGSSLMODE') ?? 'verify-full';
  const rootCertFile = url.sslRootCert ?? reader.optional('PGSSLROOTCERT');
  const local = host === '' || host.startsWith('/') || isLoopback(host);
  if (mode === 'disable' && local) return { mode: 'disable' };
  if (mode !== 'verify-full') {
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
