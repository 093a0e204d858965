/**
 * Properties that CloudFormation can set at creation only: a change of one makes a new, empty resource beside the old.
 * From the schemas of CloudFormation's registry: all of `createOnlyProperties`, and of the conditional ones those that
 * our templates set (another key schema is another table, another engine another database). test/deploy/create-only.test.ts holds the table against the copy of them that cfn-lint carries.
 */
export const CREATE_ONLY: Readonly<Record<string, readonly string[]>> = {
  'AWS::Kinesis::Stream': ['Name'],
  'AWS::DynamoDB::GlobalTable': ['TableName', 'KeySchema', 'LocalSecondaryIndexes', 'GlobalTableSourceArn'],
  'AWS::RDS::DBInstance': [
    'BackupTarget',
    'CharacterSetName',
    'CustomIAMInstanceProfile',
    'DBClusterIdentifier',
    'DBInstanceIdentifier',
    'DBName',
    'DBSubnetGroupName',
    'DBSystemId',
    'Engine',
    'KmsKeyId',
    'MasterUsername',
    'NcharCharacterSetName',
    'SourceRegion',
    'StorageEncrypted',
    'Timezone',
  ],
  'AWS::RDS::DBSubnetGroup': ['DBSubnetGroupName'],
  'AWS::Logs::LogGroup': ['LogGroupName'],
  'AWS::SecretsManager::Secret': ['Name'],
  'AWS::KMS::Key': [],
  // No data, but all that is in it would move, and the addresses that somebody else has in a list of allowed ones.
  'AWS::EC2::VPC': ['CidrBlock', 'InstanceTenancy', 'Ipv4IpamPoolId', 'Ipv4NetmaskLength', 'VpcEncryptionControl'],
  'AWS::EC2::Subnet': [
    'AvailabilityZone',
    'AvailabilityZoneId',
    'CidrBlock',
    'Ipv4IpamPoolId',
    'Ipv4NetmaskLength',
    'Ipv6IpamPoolId',
    'Ipv6Native',
    'Ipv6NetmaskLength',
    'OutpostArn',
    'VpcId',
  ],
  'AWS::EC2::EIP': ['Address', 'IpamPoolId', 'NetworkBorderGroup', 'TransferAddress'],
};
