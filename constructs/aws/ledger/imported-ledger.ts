import { type CfnResource, Token } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as kms from 'aws-cdk-lib/aws-kms';
import * as rds from 'aws-cdk-lib/aws-rds';
import * as secrets from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { isMadeHere, resourceOf } from '../made-here';
import { checkCluster, checkInstance, checkOwnerSecret } from './imported-ledger-checks';
import { IAM_LOGIN, type ILedgerDatabase, type LedgerLogin, secretLogin, WORKER_USER } from './ledger-login';

const DATABASE = 'chargeonce';

/** What is known of a database instance that is made elsewhere. */
export interface ImportedInstanceOptions {
  /**
   * Fields `username` and `password` of a user that may create tables, roles and grants. Only migrations read it.
   * @default - the instance's own secret, when this app makes one; required otherwise
   */
  readonly ownerSecret?: secrets.ISecret;
  /**
   * The database in the server. It must exist.
   * @default - the one that this app makes with the server, otherwise chargeonce
   */
  readonly databaseName?: string;
}

/** What is known of a database cluster that is made elsewhere. */
export interface ImportedClusterOptions extends ImportedInstanceOptions {}

/** What is known of a PostgreSQL that is made elsewhere. */
export interface ImportedSecretOptions {
  /** Fields `username` and `password`, and what of `host`, `port` and `dbname` is not given here. */
  readonly secret: secrets.ISecret;
  /** The server's security group: consumers let themselves in. Imported with `mutable: false`, you do. */
  readonly securityGroup: ec2.ISecurityGroup;
  /**
   * Where the server is, by a name that its certificate carries.
   * @default - the secret's field `host`, read at deploy
   */
  readonly host?: string;
  /**
   * The port it listens on.
   * @default - the secret's field `port`, read at deploy
   */
  readonly port?: number;
  /**
   * The database in the server. It must exist.
   * @default - the secret's field `dbname`, read at deploy
   */
  readonly databaseName?: string;
}

interface Parts {
  readonly endpoint: rds.Endpoint;
  readonly databaseName: string;
  readonly securityGroups: readonly ec2.ISecurityGroup[];
  readonly ownerSecret: secrets.ISecret;
  /** Absent: by the owner's secret. */
  readonly connect?: (grantee: iam.IGrantable) => iam.Grant;
  readonly instance?: rds.IDatabaseInstance;
  readonly cluster?: rds.IDatabaseCluster;
}

/** A ledger in a database that is made elsewhere. */
class ImportedLedger extends Construct implements ILedgerDatabase {
  readonly endpoint: rds.Endpoint;
  readonly databaseName: string;
  readonly ownerSecret: secrets.ISecret;
  readonly workerLogin: LedgerLogin;
  readonly connections: ec2.Connections;
  readonly instance?: rds.IDatabaseInstance;
  readonly cluster?: rds.IDatabaseCluster;
  private readonly connect: (grantee: iam.IGrantable) => iam.Grant;

  constructor(scope: Construct, id: string, parts: Parts) {
    super(scope, id);
    this.endpoint = parts.endpoint;
    this.databaseName = parts.databaseName;
    this.ownerSecret = keyByReference(this, 'OwnerSecret', parts.ownerSecret);
    this.workerLogin = parts.connect ? IAM_LOGIN : secretLogin(this.ownerSecret);
    this.connect = parts.connect ?? ((grantee) => grantReading(grantee, this.ownerSecret));
    this.connections = new ec2.Connections({
      securityGroups: [...parts.securityGroups],
      defaultPort: ec2.Port.tcp(parts.endpoint.port),
    });
    if (parts.instance) this.instance = parts.instance;
    if (parts.cluster) this.cluster = parts.cluster;
  }

  grantConnect(grantee: iam.IGrantable): iam.Grant {
    return this.connect(grantee);
  }
}

export function importedInstance(
  scope: Construct,
  id: string,
  instance: rds.IDatabaseInstance,
  options: ImportedInstanceOptions,
): ILedgerDatabase {
  const path = pathOf(scope, id);
  checkInstance(path, instance);
  return new ImportedLedger(scope, id, {
    endpoint: instance.instanceEndpoint,
    databaseName: options.databaseName ?? madeWith(instance, 'dbName') ?? DATABASE,
    securityGroups: instance.connections.securityGroups,
    ownerSecret: checkOwnerSecret(path, options.ownerSecret ?? secretOf(instance)),
    connect: (grantee) => instance.grantConnect(grantee, WORKER_USER),
    instance,
  });
}

export function importedCluster(
  scope: Construct,
  id: string,
  cluster: rds.IDatabaseCluster,
  options: ImportedClusterOptions,
): ILedgerDatabase {
  const path = pathOf(scope, id);
  checkCluster(path, cluster);
  return new ImportedLedger(scope, id, {
    endpoint: cluster.clusterEndpoint,
    databaseName: options.databaseName ?? madeWith(cluster, 'databaseName') ?? DATABASE,
    securityGroups: cluster.connections.securityGroups,
    ownerSecret: checkOwnerSecret(path, options.ownerSecret ?? secretOf(cluster)),
    connect: (grantee) => cluster.grantConnect(grantee, WORKER_USER),
    cluster,
  });
}

export function importedSecret(scope: Construct, id: string, options: ImportedSecretOptions): ILedgerDatabase {
  const { secret, securityGroup } = options;
  // Resolved by CloudFormation at deploy: where a server is, is no secret, and a security group's rule needs the port.
  const field = (name: string) => secret.secretValueFromJson(name);
  const port = options.port ?? Token.asNumber(field('port'));
  return new ImportedLedger(scope, id, {
    endpoint: new rds.Endpoint(options.host ?? field('host').unsafeUnwrap(), port),
    databaseName: options.databaseName ?? field('dbname').unsafeUnwrap(),
    securityGroups: [securityGroup],
    ownerSecret: secret,
  });
}

const pathOf = (scope: Construct, id: string) => [scope.node.path, id].filter((part) => part !== '').join('/');

/** What the server is made with, if this app makes it. */
function madeWith(server: rds.IDatabaseInstance | rds.IDatabaseCluster, property: string): string | undefined {
  const made = resourceOf(server) as (CfnResource & Record<string, unknown>) | undefined;
  return made?.[property] as string | undefined;
}

/** The secret of a server that this app makes, or that is named where it is imported. */
function secretOf(server: rds.IDatabaseInstance | rds.IDatabaseCluster): secrets.ISecret | undefined {
  return (server as { readonly secret?: secrets.ISecret }).secret;
}

/**
 * The same secret, its key by its ARN: a key made in this app would name every reader's role in its policy, which is a
 * cycle when the reader is in another stack.
 */
function keyByReference(scope: Construct, id: string, secret: secrets.ISecret): secrets.ISecret {
  const key = secret.encryptionKey;
  if (key === undefined || !isMadeHere(key)) return secret;
  const { secretFullArn } = secret;
  return secrets.Secret.fromSecretAttributes(scope, id, {
    ...(secretFullArn === undefined ? { secretPartialArn: secret.secretArn } : { secretCompleteArn: secretFullArn }),
    encryptionKey: kms.Key.fromKeyArn(scope, `${id}Key`, key.keyArn),
  });
}

/** On the reader's side alone, and no more than reading the value. */
function grantReading(grantee: iam.IGrantable, secret: secrets.ISecret): iam.Grant {
  const on = (action: string, arn: string) =>
    iam.Grant.addToPrincipal({ grantee, actions: [action], resourceArns: [arn] });
  // An ARN without the six characters that Secrets Manager appends matches nothing.
  const arn = secret.secretFullArn ?? `${secret.secretArn}-??????`;
  const read = on('secretsmanager:GetSecretValue', arn);
  return secret.encryptionKey ? read.combine(on('kms:Decrypt', secret.encryptionKey.keyArn)) : read;
}
