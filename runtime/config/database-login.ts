/** How a connection to the ledger proves who it is: a password, Amazon's tokens, or a secret of Secrets Manager. */
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
  /** Fields `username` and `password`, read again when the server refuses the password. */
  | { readonly method: 'secret'; readonly secretArn: string };

const SECRET_ARN = /^arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:\d{12}:secret:[\w/+=.@!-]{1,512}$/;
const REGION = /^[a-z]{2,}(-[a-z]+)+-\d+$/;

/** Every other way of logging in that is set beside the chosen one is a problem: which of them wins may not be guessed. */
export function readLogin(reader: Reader, url: FromUrl): DatabaseLogin {
  const auth = reader.oneOf('DATABASE_AUTH', ['password', 'rds-iam', 'entra'] as const, 'password');
  if (auth === 'entra') {
    reader.problem('DATABASE_AUTH', {
      allowed: 'password | rds-iam',
      wayOut: 'entra is not in this version: use a password with PGPASSWORD, PGPASSWORD_FILE or DATABASE_SECRET_ARN.',
    });
  }
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

function readRdsIam(reader: Reader, url: FromUrl): DatabaseLogin {
  refuseBeside(reader, url, 'DATABASE_AUTH=rds-iam', 'Take it away, or leave out DATABASE_AUTH to log in with it.', [
    'PGPASSWORD',
    'PGPASSWORD_FILE',
    'DATABASE_SECRET_ARN',
  ]);
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
