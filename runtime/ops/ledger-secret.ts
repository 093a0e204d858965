/** User and password of the ledger in AWS Secrets Manager. */
import type { PasswordFunction } from '../ledger/connection';
import { reason } from '../ledger/errors';

/** What a secret of a database says; names of the fields as RDS and its rotation write them. */
export interface LedgerSecretFields {
  readonly username: string;
  readonly password: string;
  readonly host?: string;
  readonly port?: number;
  readonly dbname?: string;
}

/** A task that cannot reach the service (no route, no endpoint) must say so before the platform gives it up. */
const TIMEOUTS = { connectionTimeout: 3_000, requestTimeout: 5_000, throwOnRequestTimeout: true };

export class LedgerSecret {
  private fields: Promise<LedgerSecretFields> | undefined;
  private reading = false;

  constructor(private readonly arn: string) {}

  /** Read once. Rejects in words that say what to do and show no value. */
  read(): Promise<LedgerSecretFields> {
    this.fields ??= this.fetch();
    return this.fields;
  }

  /** Reads the secret again when the server has refused what it said last; logins at the same time share the answer. */
  passwordOf(user: string): PasswordFunction {
    return async ({ refresh }) => {
      if (refresh && !this.reading) this.fields = undefined;
      const { username, password } = await this.read();
      if (username === user) return password;
      throw new Error(
        `the secret ${this.arn} names the user ${username} now, and this process began as ${user}: restart it`,
      );
    };
  }

  private async fetch(): Promise<LedgerSecretFields> {
    this.reading = true;
    try {
      return parse(this.arn, await this.text());
    } catch (error) {
      this.fields = undefined;
      throw error;
    } finally {
      this.reading = false;
    }
  }

  private async text(): Promise<string | undefined> {
    // Loaded only for those who log in this way.
    const { GetSecretValueCommand, SecretsManagerClient } = await import('@aws-sdk/client-secrets-manager');
    const region = this.arn.split(':')[3] ?? '';
    const client = new SecretsManagerClient({ region, requestHandler: TIMEOUTS });
    try {
      return (await client.send(new GetSecretValueCommand({ SecretId: this.arn }))).SecretString;
    } catch (cause) {
      const name = cause instanceof Error ? `${cause.name}: ` : '';
      throw new Error(
        `the secret ${this.arn} could not be read (${name}${reason(cause)}). This process needs a way to Secrets Manager ` +
          `in ${region}, and a role that may secretsmanager:GetSecretValue on it (and kms:Decrypt if it has a key of its own).`,
        { cause },
      );
    } finally {
      client.destroy();
    }
  }
}

function parse(arn: string, text: string | undefined): LedgerSecretFields {
  const fields = text === undefined ? undefined : jsonObject(text);
  if (fields === undefined) throw new Error(`the secret ${arn} is no JSON object with username and password`);
  const { username, password, host, port, dbname } = fields;
  if (!isText(username) || !isText(password)) {
    const found = Object.keys(fields).join(', ');
    throw new Error(`the secret ${arn} needs the fields username and password, as text; it has: ${found || 'none'}`);
  }
  const number = Number(port);
  return {
    username,
    password,
    ...(isText(host) ? { host } : {}),
    ...(Number.isInteger(number) && number > 0 && number < 65_536 ? { port: number } : {}),
    ...(isText(dbname) ? { dbname } : {}),
  };
}

function jsonObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    // Not JSON: the words of the parser would show a part of the secret.
    return undefined;
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
