/** Reads back what keeps data: stream, database, log groups; the table has a file of its own. */
import { DescribeLogGroupsCommand, ListTagsForResourceCommand } from '@aws-sdk/client-cloudwatch-logs';
import { DescribeStreamSummaryCommand, ListTagsForStreamCommand } from '@aws-sdk/client-kinesis';
import {
  DescribeDBInstancesCommand,
  DescribeDBParameterGroupsCommand,
  DescribeDBParametersCommand,
  DescribeDBSubnetGroupsCommand,
  ListTagsForResourceCommand as ListTagsOfDatabaseResource,
} from '@aws-sdk/client-rds';
import type { AwsClients } from '../clients';
import { type Json, only, type Reader, tags } from './reading';
import { table } from './table';

const stream: Reader = {
  async read({ kinesis }, { physicalId: StreamName }) {
    const { StreamDescriptionSummary } = await kinesis.send(new DescribeStreamSummaryCommand({ StreamName }));
    const { Tags } = await kinesis.send(new ListTagsForStreamCommand({ StreamName }));
    const found = StreamDescriptionSummary!;
    const { EncryptionType, KeyId } = found;
    return {
      properties: {
        Name: found.StreamName,
        StreamModeDetails: { StreamMode: found.StreamModeDetails?.StreamMode },
        ShardCount: found.OpenShardCount,
        RetentionPeriodHours: found.RetentionPeriodHours,
        StreamEncryption: { EncryptionType, KeyId },
        Tags: tags(Tags),
      },
      attributes: { Arn: found.StreamARN },
    };
  },
};

const database: Reader = {
  notKept: { DeleteAutomatedBackups: 'It says what a delete does: no call shows it, on AWS neither.' },
  async read({ rds }, { physicalId }) {
    const command = new DescribeDBInstancesCommand({ DBInstanceIdentifier: physicalId });
    const found = only((await rds.send(command)).DBInstances, physicalId);
    const secret = found.MasterUserSecret;
    return {
      properties: {
        AllocatedStorage: found.AllocatedStorage,
        AutoMinorVersionUpgrade: found.AutoMinorVersionUpgrade,
        BackupRetentionPeriod: found.BackupRetentionPeriod,
        CACertificateIdentifier: found.CACertificateIdentifier,
        CopyTagsToSnapshot: found.CopyTagsToSnapshot,
        DBInstanceClass: found.DBInstanceClass,
        DBName: found.DBName,
        DBParameterGroupName: only(found.DBParameterGroups, 'parameter groups').DBParameterGroupName,
        DBSubnetGroupName: found.DBSubnetGroup?.DBSubnetGroupName,
        DeletionProtection: found.DeletionProtection,
        EnableCloudwatchLogsExports: found.EnabledCloudwatchLogsExports,
        EnableIAMDatabaseAuthentication: found.IAMDatabaseAuthenticationEnabled,
        Engine: found.Engine,
        EngineVersion: found.EngineVersion,
        ManageMasterUserPassword: secret?.SecretStatus === 'active',
        MasterUserSecret: { KmsKeyId: secret?.KmsKeyId },
        MasterUsername: found.MasterUsername,
        MaxAllocatedStorage: found.MaxAllocatedStorage,
        MonitoringInterval: found.MonitoringInterval,
        MonitoringRoleArn: found.MonitoringRoleArn,
        MultiAZ: found.MultiAZ,
        PubliclyAccessible: found.PubliclyAccessible,
        StorageEncrypted: found.StorageEncrypted,
        StorageType: found.StorageType,
        Tags: tags(found.TagList),
        VPCSecurityGroups: found.VpcSecurityGroups?.map((group) => group.VpcSecurityGroupId),
      },
      attributes: {
        'Endpoint.Address': found.Endpoint?.Address,
        'Endpoint.Port': String(found.Endpoint?.Port),
        'MasterUserSecret.SecretArn': secret?.SecretArn,
        DbiResourceId: found.DbiResourceId,
        DBInstanceArn: found.DBInstanceArn,
      },
    };
  },
};

async function tagsOf(rds: AwsClients['rds'], ResourceName: string | undefined): Promise<Json> {
  return tags((await rds.send(new ListTagsOfDatabaseResource({ ResourceName }))).TagList);
}

const subnetGroup: Reader = {
  async read({ rds }, { physicalId }) {
    const command = new DescribeDBSubnetGroupsCommand({ DBSubnetGroupName: physicalId });
    const found = only((await rds.send(command)).DBSubnetGroups, physicalId);
    return {
      properties: {
        DBSubnetGroupDescription: found.DBSubnetGroupDescription,
        SubnetIds: found.Subnets?.map((subnet) => subnet.SubnetIdentifier),
        Tags: await tagsOf(rds, found.DBSubnetGroupArn),
      },
    };
  },
};

const parameterGroup: Reader = {
  async read({ rds }, { physicalId: DBParameterGroupName }) {
    const groups = await rds.send(new DescribeDBParameterGroupsCommand({ DBParameterGroupName }));
    const found = only(groups.DBParameterGroups, DBParameterGroupName);
    const { Parameters } = await rds.send(new DescribeDBParametersCommand({ DBParameterGroupName, Source: 'user' }));
    return {
      properties: {
        Description: found.Description,
        Family: found.DBParameterGroupFamily,
        Parameters: Object.fromEntries((Parameters ?? []).map((each) => [each.ParameterName, each.ParameterValue])),
        Tags: await tagsOf(rds, found.DBParameterGroupArn),
      },
    };
  },
};

const logGroup: Reader = {
  async read({ logs }, { physicalId }) {
    const { logGroups } = await logs.send(new DescribeLogGroupsCommand({ logGroupNamePrefix: physicalId }));
    const found = only(
      logGroups?.filter((group) => group.logGroupName === physicalId),
      physicalId,
    );
    const resourceArn = found.arn?.replace(/:\*$/, '');
    const answer = await logs.send(new ListTagsForResourceCommand({ resourceArn }));
    return {
      properties: {
        LogGroupName: found.logGroupName,
        RetentionInDays: found.retentionInDays,
        KmsKeyId: found.kmsKeyId,
        Tags: tags(Object.entries(answer.tags ?? {}).map(([Key, Value]) => ({ Key, Value }))),
      },
      attributes: { Arn: found.arn },
    };
  },
};

export const DATA_READERS: Readonly<Record<string, Reader>> = {
  'AWS::Kinesis::Stream': stream,
  'AWS::DynamoDB::GlobalTable': table,
  'AWS::RDS::DBInstance': database,
  'AWS::RDS::DBSubnetGroup': subnetGroup,
  'AWS::RDS::DBParameterGroup': parameterGroup,
  'AWS::Logs::LogGroup': logGroup,
};
