/** DATABASE_URL taken apart. */
import type { Reader } from './reader';

export interface FromUrl {
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

export function fromUrl(reader: Reader): FromUrl {
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
