import { Duration, RemovalPolicy, SecretValue, Token } from 'aws-cdk-lib';
import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import type * as iam from 'aws-cdk-lib/aws-iam';
import * as kms from 'aws-cdk-lib/aws-kms';
import * as rds from 'aws-cdk-lib/aws-rds';
import * as secrets from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { checkNeeded } from '../needed-props';
import {
  type ImportedClusterOptions,
  type ImportedInstanceOptions,
  type ImportedSecretOptions,
  importedCluster,
  importedInstance,
  importedSecret,
} from './imported-ledger';
import { checkLedger, databaseSubnets } from './ledger-checks';
import type { LedgerDatabaseProps } from './ledger-database-props';
import { IAM_LOGIN, type ILedgerDatabase, type LedgerLogin, WORKER_USER } from './ledger-login';

const OWNER = 'chargeonce_owner';

/** The ledger on RDS for PostgreSQL: encrypted, private, TLS only, backed up, protected; workers without a password. */
export class LedgerDatabase extends Construct implements ILedgerDatabase {
  /**
   * An instance of RDS for PostgreSQL that is made elsewhere, with IAM authentication on. Workers log in by IAM.
   *
   * @throws when it is imported without its resource id or security groups, for which the CDK grants nothing
   */
  static fromInstance(
    scope: Construct,
    id: string,
    instance: rds.IDatabaseInstance,
    options: ImportedInstanceOptions = {},
  ): ILedgerDatabase {
    return importedInstance(scope, id, instance, options);
  }

  /**
   * A cluster of Aurora PostgreSQL that is made elsewhere, with IAM authentication on. Workers log in by IAM.
   *
   * @throws when it is imported without its resource id, endpoint or security groups, for which the CDK grants nothing
   */
  static fromCluster(
    scope: Construct,
    id: string,
    cluster: rds.IDatabaseCluster,
    options: ImportedClusterOptions = {},
  ): ILedgerDatabase {
    return importedCluster(scope, id, cluster, options);
  }

  /**
   * Any PostgreSQL, by a secret with `username` and `password`. Workers and migrations log in as that one user, who owns
   * the tables; the runtime reads the secret again when it was rotated.
   */
  static fromSecret(scope: Construct, id: string, options: ImportedSecretOptions): ILedgerDatabase {
    return importedSecret(scope, id, options);
  }

  readonly instance: rds.DatabaseInstance;
  /** Where it listens. */
  readonly endpoint: rds.Endpoint;
  /** The database in the server. */
  readonly databaseName: string;
  readonly ownerSecret: secrets.ISecret;
  readonly workerLogin: LedgerLogin = IAM_LOGIN;
  readonly connections: ec2.Connections;

  /**
   * @throws when PostgreSQL is older than 14; when RDS would refuse the name of the database, the storage, its maximum or
   * the interval of monitoring; when backups are kept for less than a day or more than 35
   */
  constructor(scope: Construct, id: string, props: LedgerDatabaseProps) {
    super(scope, id);
    checkNeeded(this.node.path, props, ['vpc']);
    this.databaseName = props.databaseName ?? 'chargeonce';
    checkLedger(this.node.path, props);

    const removalPolicy = props.removalPolicy ?? RemovalPolicy.RETAIN;
    // What a kept server needs is kept with it; what a snapshot replaces needs nothing.
    const around = removalPolicy === RemovalPolicy.SNAPSHOT ? RemovalPolicy.DESTROY : removalPolicy;
    this.instance = new rds.DatabaseInstance(this, 'Resource', {
      ...this.server(props, around),
      ...this.network(props, around),
      credentials: rds.Credentials.fromPassword(OWNER, SecretValue.unsafePlainText('replaced below')),
      databaseName: this.databaseName,
      ...storage(props),
      storageType: rds.StorageType.GP3,
      storageEncrypted: true,
      ...(props.encryptionKey ? { storageEncryptionKey: props.encryptionKey } : {}),
      backupRetention: props.backupRetention ?? Duration.days(14),
      copyTagsToSnapshot: true,
      deleteAutomatedBackups: removalPolicy === RemovalPolicy.DESTROY,
      iamAuthentication: true,
      cloudwatchLogsExports: ['postgresql', 'upgrade'],
      monitoringInterval: props.monitoringInterval ?? Duration.seconds(60),
      deletionProtection: props.deletionProtection ?? true,
      removalPolicy,
    });

    (this.instance.node.tryFindChild('MonitoringRole') as iam.Role | undefined)?.applyRemovalPolicy(around);
    this.endpoint = this.instance.instanceEndpoint;
    this.connections = this.instance.connections;
    this.ownerSecret = this.managedOwnerSecret(props.encryptionKey);
  }

  grantConnect(grantee: iam.IGrantable): iam.Grant {
    return this.instance.grantConnect(grantee, WORKER_USER);
  }

  /** Share of the server's processors in use, in percent. */
  metricCPUUtilization(options?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.instance.metricCPUUtilization(options);
  }

  /** Open connections, those of workers, migrations and people together. */
  metricDatabaseConnections(options?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.instance.metricDatabaseConnections(options);
  }

  /** Memory that is left, in bytes. */
  metricFreeableMemory(options?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.instance.metricFreeableMemory(options);
  }

  /** Storage that is left before it grows, in bytes. */
  metricFreeStorageSpace(options?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.instance.metricFreeStorageSpace(options);
  }

  private server(props: LedgerDatabaseProps, removalPolicy: RemovalPolicy) {
    const engine = rds.DatabaseInstanceEngine.postgres({
      version: props.engineVersion ?? rds.PostgresEngineVersion.VER_17,
    });
    const parameterGroup = new rds.ParameterGroup(this, 'Parameters', {
      engine,
      description: 'chargeonce ledger: TLS only',
      parameters: { 'rds.force_ssl': '1' },
      removalPolicy,
    });
    return {
      engine,
      parameterGroup,
      instanceType: props.instanceType ?? ec2.InstanceType.of(ec2.InstanceClass.T4G, ec2.InstanceSize.MEDIUM),
      multiAz: props.multiAz ?? true,
      autoMinorVersionUpgrade: true,
      // One of the roots that the runtime brings: it trusts no other.
      caCertificate: rds.CaCertificate.RDS_CA_RSA2048_G1,
    };
  }

  /** Nothing reaches it but what is let in, and it reaches nothing. */
  private network(props: LedgerDatabaseProps, removalPolicy: RemovalPolicy) {
    const { vpc } = props;
    const securityGroup = new ec2.SecurityGroup(this, 'SecurityGroup', {
      vpc,
      description: 'chargeonce ledger',
      allowAllOutbound: false,
    });
    securityGroup.applyRemovalPolicy(removalPolicy);
    return {
      vpc,
      vpcSubnets: databaseSubnets(this.node.path, props),
      publiclyAccessible: false,
      securityGroups: [securityGroup as ec2.ISecurityGroup],
    };
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

function storage({ allocatedStorage = 20, maxAllocatedStorage }: LedgerDatabaseProps) {
  const grown = Token.isUnresolved(allocatedStorage) ? 200 : Math.max(200, allocatedStorage);
  return { allocatedStorage, maxAllocatedStorage: maxAllocatedStorage ?? grown };
}
