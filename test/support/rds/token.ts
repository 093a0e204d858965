/**
 * Checks a login token of Amazon RDS: a request `GET https://host:port/?Action=connect&DBUser=…` to the service rds-db,
 * signed into its query (Signature Version 4). Written from AWS's description, without the SDK that makes such tokens.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export interface TokenRules {
  /** Of the server as its clients call it. */
  readonly host: string;
  readonly port: number;
  readonly region: string;
  /** Whose signatures count. */
  readonly credentials: readonly AwsCredentials[];
  /** Milliseconds since the epoch. */
  readonly now: number;
}

const LONGEST_SECONDS = 900;
const SKEW_MS = 5 * 60_000;

/** Why the token does not log in as this user; undefined when it does. */
export function refuseToken(token: string, user: string, rules: TokenRules): string | undefined {
  const [, host = '', query = ''] = /^([^/?]+)\/\?(.*)$/s.exec(token) ?? [];
  if (host !== `${rules.host}:${rules.port}`) return `the token is for ${host || 'no host'}`;
  const fields = new URLSearchParams(query);
  const field = (name: string) => fields.get(name) ?? '';
  if (field('Action') !== 'connect') return 'the token is no connect';
  if (field('DBUser') !== user) return `the token is for the user ${field('DBUser')}`;
  const [keyId, day, region, service, end] = field('X-Amz-Credential').split('/');
  if (region !== rules.region || service !== 'rds-db' || end !== 'aws4_request') return 'the token is of another scope';
  const credentials = rules.credentials.find(({ accessKeyId }) => accessKeyId === keyId);
  if (!credentials) return `nobody knows the access key ${keyId}`;
  if (field('X-Amz-Security-Token') !== (credentials.sessionToken ?? '')) return 'the session token is another';
  const late = refuseTime(field('X-Amz-Date'), field('X-Amz-Expires'), rules.now);
  if (late !== undefined) return late;
  if (!field('X-Amz-Date').startsWith(day ?? '?')) return 'the day of the scope is another';
  const right = Buffer.from(signature(host, fields, credentials));
  const given = Buffer.from(field('X-Amz-Signature'));
  return given.length === right.length && timingSafeEqual(given, right) ? undefined : 'the signature is wrong';
}

function refuseTime(date: string, expires: string, now: number): string | undefined {
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(date) ?? [];
  const signedAt = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  const seconds = Number(expires);
  if (Number.isNaN(signedAt)) return 'the token has no date';
  if (!(seconds > 0 && seconds <= LONGEST_SECONDS)) return 'the token lasts too long';
  if (signedAt > now + SKEW_MS) return 'the token is of the future';
  return now > signedAt + seconds * 1_000 ? 'the token has expired' : undefined;
}

function signature(host: string, fields: URLSearchParams, { secretAccessKey }: AwsCredentials): string {
  const [, ...scope] = (fields.get('X-Amz-Credential') ?? '').split('/');
  const query = [...fields]
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .sort()
    .join('&');
  const request = ['GET', '/', query, `host:${host}`, '', 'host', sha256('')].join('\n');
  const text = ['AWS4-HMAC-SHA256', fields.get('X-Amz-Date'), scope.join('/'), sha256(request)].join('\n');
  const key = scope.reduce<Buffer>((under, part) => hmac(under, part), Buffer.from(`AWS4${secretAccessKey}`));
  return hmac(key, text).toString('hex');
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const hmac = (key: Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
