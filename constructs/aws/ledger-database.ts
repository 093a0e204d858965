import { Duration, RemovalPolicy, SecretValue } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import type * as iam from 'aws-cdk-lib/aws-iam';
import * as kms from 'aws-cdk-lib/aws-kms';
import * as rds from 'aws-cdk-lib/aws-rds';
import * as secrets from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { IAM_LOGIN, type ILedgerDatabase, type LedgerLogin, WORKER_USER } from './ledger-login';

const OWNER = 'chargeonce_owner';

export interface LedgerDatabaseProps {
  readonly vpc: ec2.IVpc;
  /**
   * Where the database lives. Never reachable from the internet.
   * @default - isolated subnets, or private ones with egress when the VPC has no isolated ones
   */
  readonly vpcSubnets?: ec2.SubnetSelection;
  /**
   * PostgreSQL version; RDS applies minor ones by itself when only the major is named.
   * @default rds.PostgresEngineVersion.VER_17
   */
  readonly engineVersion?: rds.PostgresEngineVersion;
  /**
   * Size of the server.
   * @default - t4g.medium
   */
  readonly instanceType?: ec2.InstanceType;
  /**
   * Whether a standby in another zone takes over when the server fails. Billing waits meanwhile, nothing is lost.
   * @default true
   */
  readonly multiAz?: boolean;
  /**
   * Storage to begin with, in GiB.
   * @default 20
   */
  readonly allocatedStorage?: number;
  /**
   * Storage may grow to this, in GiB.
   * @default 200
   */
  readonly maxAllocatedStorage?: number;
  /**
   * How long backups are kept.
   * @default Duration.days(14)
   */
  readonly backupRetention?: Duration;
  /**
   * Your own key for the storage.
   * @default - the key AWS manages for RDS
   */
  readonly encryptionKey?: kms.IKey;
  /**
   * Name of the database.
   * @default chargeonce
   */
  readonly databaseName?: string;
  /**
   * How often the operating system reports.
   * @default Duration.seconds(60)
   */
  readonly monitoringInterval?: Duration;
  /**
   * Whether a delete call is refused.
   * @default true
   */
  readonly deletionProtection?: boolean;
  /**
   * What becomes of the ledger when the stack goes. Whoever destroys it gives up the promise: events that are
   * still on the stream would be charged again.
   * @default RemovalPolicy.RETAIN
   */
  readonly removalPolicy?: RemovalPolicy;
}

/** The ledger on RDS for PostgreSQL: encrypted, private, TLS only, backed up, protected. */
export class LedgerDatabase extends Construct implements ILedgerDatabase {
  readonly instance: rds.DatabaseInstance;
  readonly endpoint: rds.Endpoint;
  readonly databaseName: string;
  readonly ownerSecret: secrets.ISecret;
  readonly workerLogin: LedgerLogin = IAM_LOGIN;
  readonly connections: ec2.Connections;

  constructor(scope: Construct, id: string, props: LedgerDatabaseProps) {
    super(scope, id);
    this.databaseName = props.databaseName ?? 'chargeonce';

    const engine = rds.DatabaseInstanceEngine.postgres({
      version: props.engineVersion ?? rds.PostgresEngineVersion.VER_17,
    });
    const removalPolicy = props.removalPolicy ?? RemovalPolicy.RETAIN;
    const parameterGroup = new rds.ParameterGroup(this, 'Parameters', {
      engine,
      description: 'chargeonce ledger: TLS only',
      parameters: { 'rds.force_ssl': '1' },
      removalPolicy,
    });
    this.instance = new rds.DatabaseInstance(this, 'Resource', {
      engine,
      parameterGroup,
      vpc: props.vpc,
      vpcSubnets: props.vpcSubnets ?? privateSubnets(props.vpc),
      publiclyAccessible: false,
      credentials: rds.Credentials.fromPassword(OWNER, SecretValue.unsafePlainText('replaced below')),
      databaseName: this.databaseName,
      instanceType: props.instanceType ?? ec2.InstanceType.of(ec2.InstanceClass.T4G, ec2.InstanceSize.MEDIUM),
      multiAz: props.multiAz ?? true,
      allocatedStorage: props.allocatedStorage ?? 20,
      maxAllocatedStorage: props.maxAllocatedStorage ?? 200,
      storageType: rds.StorageType.GP3,
      storageEncrypted: true,
      ...(props.encryptionKey ? { storageEncryptionKey: props.encryptionKey } : {}),
      backupRetention: props.backupRetention ?? Duration.days(14),
      iamAuthentication: true,
      cloudwatchLogsExports: ['postgresql'],
      monitoringInterval: props.monitoringInterval ?? Duration.seconds(60),
      deletionProtection: props.deletionProtection ?? true,
      removalPolicy,
    });

    this.endpoint = this.instance.instanceEndpoint;
    this.connections = this.instance.connections;
    this.ownerSecret = this.managedOwnerSecret(props.encryptionKey);
  }

  grantConnect(grantee: iam.IGrantable): iam.Grant {
    return this.instance.grantConnect(grantee, WORKER_USER);
  }

  /** RDS makes the owner's password, keeps it in a secret of its own and rotates it: nobody else ever knew it. */
  private managedOwnerSecret(encryptionKey: kms.IKey | undefined): secrets.ISecret {
    const instance = this.instance.node.defaultChild as rds.CfnDBInstance;
    instance.addPropertyDeletionOverride('MasterUserPassword');
    instance.manageMasterUserPassword = true;
    if (encryptionKey) instance.masterUserSecret = { kmsKeyId: encryptionKey.keyArn };
    return secrets.Secret.fromSecretAttributes(this, 'OwnerSecret', {
      secretCompleteArn: instance.attrMasterUserSecretSecretArn,
      // By its ARN: a policy that names the migrator's role would be a cycle when compute is a stack of its own.
      ...(encryptionKey ? { encryptionKey: kms.Key.fromKeyArn(this, 'OwnerSecretKey', encryptionKey.keyArn) } : {}),
    });
  }
}

function privateSubnets(vpc: ec2.IVpc): ec2.SubnetSelection {
  const isolated = vpc.isolatedSubnets.length > 0;
  return { subnetType: isolated ? ec2.SubnetType.PRIVATE_ISOLATED : ec2.SubnetType.PRIVATE_WITH_EGRESS };
}
