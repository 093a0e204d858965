import type * as ec2 from 'aws-cdk-lib/aws-ec2';
import type * as iam from 'aws-cdk-lib/aws-iam';
import type * as rds from 'aws-cdk-lib/aws-rds';
import type * as secrets from 'aws-cdk-lib/aws-secretsmanager';
import type { IConstruct } from 'constructs';
import { ENVIRONMENT } from '../../../runtime/contract';

/** The user that workers and the ops task log in as when the database takes IAM tokens. Migrations create it. */
export const WORKER_USER = 'chargeonce_worker';

/** How worker and ops task log in to the ledger. */
export interface LedgerLogin {
  /** Settings of the runtime: which way to log in, and as whom or with which secret. */
  readonly environment: Readonly<Record<string, string>>;
  /** What `migrate --apply` is told besides, so that this login exists. */
  readonly migrateArguments: readonly string[];
}

/** The PostgreSQL database that keeps the promise. */
export interface ILedgerDatabase extends IConstruct, ec2.IConnectable {
  /** Where it listens. */
  readonly endpoint: rds.Endpoint;
  /** The database in the server. */
  readonly databaseName: string;
  /** The server, when it is an instance: what CloudWatch knows of it can be watched. */
  readonly instance?: rds.IDatabaseInstance;
  /** The server, when it is a cluster. Neither: a database that is known by its secret alone. */
  readonly cluster?: rds.IDatabaseCluster;
  /** Fields `username` and `password`: may do anything in the database. Only migrations read it. */
  readonly ownerSecret: secrets.ISecret;
  /** How worker and ops task log in. */
  readonly workerLogin: LedgerLogin;
  /** Grants what `workerLogin` needs: rds-db:connect as its user on this one database, or reading the secret. */
  grantConnect(grantee: iam.IGrantable): iam.Grant;
}

/** Login without a password: a token, signed for each connection, as a user that may change rows but no tables. */
export const IAM_LOGIN: LedgerLogin = {
  environment: { [ENVIRONMENT.DATABASE_AUTH]: 'rds-iam', [ENVIRONMENT.PGUSER]: WORKER_USER },
  migrateArguments: ['--worker-role', WORKER_USER, '--worker-auth', 'rds-iam'],
};

/** Login with the user and password of a secret, which the runtime reads itself, and again when they were rotated. */
export function secretLogin(secret: secrets.ISecret): LedgerLogin {
  return {
    environment: { [ENVIRONMENT.DATABASE_AUTH]: 'password', [ENVIRONMENT.DATABASE_SECRET_ARN]: secret.secretArn },
    migrateArguments: [],
  };
}
