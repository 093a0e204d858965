/** How a connection to the ledger proves who it is: a password, a token of Amazon or Microsoft, or a secret. */
import type { FromUrl } from './database-url';
import type { Reader } from './reader';

export type DatabaseLogin =
  | {
      readonly method: 'password';
      /** Absent: `passwordFile`, or a server that asks for none. */
      readonly password?: string;
      /** Read at every new connection, so that a rotated password needs no restart. Wins over `password`. */
      readonly passwordFile?: string;
    }
  /** A token of Amazon RDS for every new connection, signed with the credentials of this process. */
  | { readonly method: 'rds-iam'; readonly region: string }
  /** A token of Microsoft Entra for every new connection, got with the identity of this process. */
  | {
      readonly method: 'entra';
      /** Client id of a user-assigned managed identity. Absent: what the default chain of Azure's SDK finds. */
      readonly clientId?: string;
    }
  /** Fields `username` and `password`, read again when the server refuses the password. */
  | { readonly method: 'secret'; readonly secretArn: string };

const SECRET_ARN = /^arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:\d{12}:secret:[\w/+=.@!-]{1,512}$/;
const REGION = /^[a-z]{2,}(-[a-z]+)+-\d+$/;
const CLIENT_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** PostgreSQL cuts longer names off, and who logs in with the whole one is somebody else. */
const LONGEST_ROLE_BYTES = 63;

/** Every other way of logging in that is set beside the chosen one is a problem: which of them wins may not be guessed. */
export function readLogin(reader: Reader, url: FromUrl): DatabaseLogin {
  const auth = reader.oneOf('DATABASE_AUTH', ['password', 'rds-iam', 'entra'] as const, 'password');
  if (auth === 'entra') return readEntra(reader, url);
  if (auth === 'rds-iam') return readRdsIam(reader, url);
  const secretArn = reader.optional('DATABASE_SECRET_ARN');
  if (secretArn !== undefined) return readSecret(reader, url, secretArn);
  const password = url.password ?? reader.optional('PGPASSWORD');
  const passwordFile = reader.optional('PGPASSWORD_FILE');
  return {
    method: 'password',
    ...(password === undefined ? {} : { password }),
    ...(passwordFile === undefined ? {} : { passwordFile }),
  };
}

/** With a token, the login needs nothing that could be set: what is set beside it may be meant, and would be ignored. */
function refuseBesideToken(reader: Reader, url: FromUrl, chosen: 'rds-iam' | 'entra'): void {
  const wayOut = 'Take it away, or leave out DATABASE_AUTH to log in with it.';
  refuseBeside(reader, url, `DATABASE_AUTH=${chosen}`, wayOut, [
    'PGPASSWORD',
    'PGPASSWORD_FILE',
    'DATABASE_SECRET_ARN',
  ]);
}

function readEntra(reader: Reader, url: FromUrl): DatabaseLogin {
  refuseBesideToken(reader, url, 'entra');
  const name = url.user === undefined ? 'PGUSER' : 'DATABASE_URL';
  const user = url.user ?? reader.optional('PGUSER') ?? '';
  if (Buffer.byteLength(user) > LONGEST_ROLE_BYTES) {
    reader.problem(
      name,
      {
        allowed: `a role of at most ${LONGEST_ROLE_BYTES} bytes`,
        wayOut: 'Give the managed identity, whose name the role has, a shorter name.',
      },
      user,
    );
  }
  const clientId = reader.matching('AZURE_CLIENT_ID', CLIENT_ID, {
    allowed: 'the client id (a GUID) of a user-assigned managed identity',
    wayOut: 'Copy the client id, not the object id and not the name; leave it out for a system-assigned identity.',
  });
  return { method: 'entra', ...(clientId === undefined ? {} : { clientId }) };
}

function readRdsIam(reader: Reader, url: FromUrl): DatabaseLogin {
  refuseBesideToken(reader, url, 'rds-iam');
  const region = reader.required('AWS_REGION', {
    allowed: "the region of the database, e.g. eu-west-1, because a login of DATABASE_AUTH=rds-iam is the region's",
    wayOut: 'Set it.',
  });
  if (region !== '') {
    reader.matching('AWS_REGION', REGION, { allowed: 'a region, e.g. eu-west-1', wayOut: 'Write it as AWS does.' });
  }
  return { method: 'rds-iam', region };
}

function readSecret(reader: Reader, url: FromUrl, secretArn: string): DatabaseLogin {
  reader.matching('DATABASE_SECRET_ARN', SECRET_ARN, {
    allowed: 'arn:aws:secretsmanager:<region>:<account>:secret:<name>',
    wayOut: 'Copy the ARN of the secret, without a field behind it.',
  });
  const wayOut = 'The user and password are the fields of the secret: take it away, or take the secret away.';
  refuseBeside(reader, url, 'DATABASE_SECRET_ARN', wayOut, ['PGUSER', 'PGPASSWORD', 'PGPASSWORD_FILE']);
  if (url.user !== undefined) {
    reader.problem('DATABASE_URL', { allowed: 'no user beside DATABASE_SECRET_ARN', wayOut }, '***');
  }
  return { method: 'secret', secretArn };
}

type Other = 'PGUSER' | 'PGPASSWORD' | 'PGPASSWORD_FILE' | 'DATABASE_SECRET_ARN';

function refuseBeside(reader: Reader, url: FromUrl, chosen: string, wayOut: string, others: readonly Other[]): void {
  for (const name of others) {
    const value = reader.optional(name);
    if (value === undefined) continue;
    const shown = name === 'PGPASSWORD' ? '***' : value;
    reader.problem(name, { allowed: `nothing beside ${chosen}`, wayOut }, shown);
  }
  if (url.password !== undefined) {
    reader.problem('DATABASE_URL', { allowed: `no password beside ${chosen}`, wayOut }, '***');
  }
}
