/** How the ledger reaches its database. */
import { isIP } from 'node:net';
import type { ConnectionOptions as TlsOptions } from 'node:tls';
import type { PoolConfig } from 'pg';
import { reason } from './errors';
import { PasswordUnavailable } from './faults';

/** Called for every new connection. `refresh`: the last password was refused, so a cached one is stale. */
export type PasswordFunction = (hint: { readonly refresh: boolean }) => string | Promise<string>;

export interface LedgerTls {
  /** The server's certificate must be signed by a known authority and name the host. There is no weaker mode. */
  readonly mode: 'verify-full';
  /** Certificates (PEM) of the authority. Default: the ones Node.js trusts. */
  readonly ca?: string;
}

export interface LedgerConnection {
  /** `postgres://user:password@host:port/database`. The fields below win over its parts. */
  readonly url?: string;
  readonly host?: string;
  /** Default: 5432. */
  readonly port?: number;
  readonly user?: string;
  readonly database?: string;
  readonly password?: string | PasswordFunction;
  /** What to check when the server refuses the login, for people. Default: the general advice. */
  readonly loginHelp?: string;
  /** Default: no TLS, or what the url's `sslmode` says (`disable` or `verify-full`). */
  readonly ssl?: LedgerTls | false;
}

/** Whether the password was refused last time; shared by the pool and whoever sees its errors. */
export interface LoginState {
  refused: boolean;
}

/** The driver's settings for a connection. Throws when something is missing, without showing the password. */
export function connectionConfig(connection: LedgerConnection, login: LoginState): PoolConfig {
  const fromUrl = connection.url === undefined ? {} : parseUrl(connection.url);
  const { url: _, ...fields } = connection;
  const given: LedgerConnection = { ...fromUrl, ...fields };
  const host = given.host;
  for (const field of ['host', 'user', 'database'] as const) {
    if (given[field]) continue;
    throw new Error(`The ledger's connection has no ${field}. Say it in the url or as the field '${field}'.`);
  }
  return {
    host,
    port: given.port ?? 5432,
    user: given.user,
    database: given.database,
    ...passwordConfig(given.password, login),
    ssl: given.ssl ? tlsOptions(given.ssl, host ?? '') : false,
  };
}

function passwordConfig(password: string | PasswordFunction | undefined, login: LoginState): PoolConfig {
  if (password === undefined || typeof password === 'string') return password === undefined ? {} : { password };
  return {
    async password() {
      try {
        return await password({ refresh: login.refused });
      } catch (cause) {
        throw new PasswordUnavailable(`The password of the ledger could not be read: ${reason(cause)}`, { cause });
      }
    },
  };
}

/**
 * The driver hands an open socket to TLS, which then knows no host: an IP address would be compared with `localhost`.
 * So the host is said here, whatever it is.
 */
function tlsOptions(tls: LedgerTls, host: string): TlsOptions {
  return {
    host,
    ...(isIP(host) ? {} : { servername: host }),
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
    ...(tls.ca === undefined ? {} : { ca: tls.ca }),
  };
}

function parseUrl(text: string): LedgerConnection {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^postgres(ql)?:$/.test(url.protocol)) {
    throw new Error("The ledger's url is not one of the form postgres://user:password@host:port/database");
  }
  const mode = url.searchParams.get('sslmode');
  if (mode !== null && mode !== 'disable' && mode !== 'verify-full') {
    throw new Error(`sslmode=${mode} of the ledger's url is not supported: say verify-full, or disable on loopback`);
  }
  const part = (value: string) => decodeURIComponent(value);
  return {
    host: part(url.hostname.replace(/^\[|\]$/g, '')),
    ...(url.port === '' ? {} : { port: Number(url.port) }),
    ...(url.username === '' ? {} : { user: part(url.username) }),
    ...(url.password === '' ? {} : { password: part(url.password) }),
    ...(url.pathname.length > 1 ? { database: part(url.pathname.slice(1)) } : {}),
    ...(mode === 'verify-full' ? { ssl: { mode } } : {}),
  };
}
