/** Reads back a table, with what scales its capacities. */
import {
  DescribeScalableTargetsCommand,
  DescribeScalingPoliciesCommand,
} from '@aws-sdk/client-application-auto-scaling';
import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  ListTagsOfResourceCommand,
  type ProvisionedThroughputDescription,
} from '@aws-sdk/client-dynamodb';
import type { AwsClients } from '../clients';
import { REGION } from '../emulator';
import { type Json, type JsonObject, type Reader, tags } from './reading';

export const table: Reader = {
  async read(aws, { physicalId: TableName }) {
    const { dynamodb } = aws;
    const { Table } = await dynamodb.send(new DescribeTableCommand({ TableName }));
    const found = Table!;
    const { ContinuousBackupsDescription } = await dynamodb.send(new DescribeContinuousBackupsCommand({ TableName }));
    const { Tags } = await dynamodb.send(new ListTagsOfResourceCommand({ ResourceArn: found.TableArn }));
    const recovery = ContinuousBackupsDescription?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus;
    const resource = `table/${TableName}`;
    const own = await capacitiesOf(aws, resource, 'table', found.ProvisionedThroughput);
    const indexes = await Promise.all(
      (found.GlobalSecondaryIndexes ?? []).map(async ({ IndexName, KeySchema, Projection, ProvisionedThroughput }) => {
        const { write, read } = await capacitiesOf(
          aws,
          `${resource}/index/${IndexName}`,
          'index',
          ProvisionedThroughput,
        );
        const keys = { IndexName, KeySchema: KeySchema as Json, Projection: Projection as Json };
        return { ofTable: { ...keys, ...write }, ofReplica: { IndexName, ...read } };
      }),
    );
    return {
      properties: {
        TableName: found.TableName,
        AttributeDefinitions: found.AttributeDefinitions as Json,
        KeySchema: found.KeySchema as Json,
        BillingMode: found.BillingModeSummary?.BillingMode,
        GlobalSecondaryIndexes: indexes.map(({ ofTable }) => ofTable),
        ...own.write,
        Replicas: [
          {
            Region: REGION,
            DeletionProtectionEnabled: found.DeletionProtectionEnabled,
            PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: recovery === 'ENABLED' },
            GlobalSecondaryIndexes: indexes.map(({ ofReplica }) => ofReplica),
            ...own.read,
            Tags: tags(Tags),
          },
        ],
      },
      attributes: { Arn: found.TableArn },
    };
  },
};

/** Both as a template says them; what does not scale, and a table on demand, has units alone. */
async function capacitiesOf(
  { autoScaling }: AwsClients,
  resource: string,
  kind: 'table' | 'index',
  throughput: ProvisionedThroughputDescription | undefined,
): Promise<{ readonly write: JsonObject; readonly read: JsonObject }> {
  const namespace = { ServiceNamespace: 'dynamodb' as const };
  const [{ ScalableTargets = [] }, { ScalingPolicies = [] }] = await Promise.all([
    autoScaling.send(new DescribeScalableTargetsCommand({ ...namespace, ResourceIds: [resource] })),
    autoScaling.send(new DescribeScalingPoliciesCommand({ ...namespace, ResourceId: resource })),
  ]);
  const settings = (way: 'Write' | 'Read'): JsonObject => {
    const units = throughput?.[`${way}CapacityUnits`];
    const dimension = `dynamodb:${kind}:${way}CapacityUnits`;
    const target = ScalableTargets.find((each) => each.ScalableDimension === dimension);
    const policy = ScalingPolicies.find((each) => each.ScalableDimension === dimension);
    if (!target) return { [`${way}CapacityUnits`]: units };
    const TargetValue = policy?.TargetTrackingScalingPolicyConfiguration?.TargetValue;
    return {
      [`${way}CapacityAutoScalingSettings`]: {
        MinCapacity: target.MinCapacity,
        MaxCapacity: target.MaxCapacity,
        // What it begins with; nothing has scaled it here.
        SeedCapacity: units,
        TargetTrackingScalingPolicyConfiguration: { TargetValue },
      },
    };
  };
  return {
    write: { WriteProvisionedThroughputSettings: settings('Write') },
    read: { ReadProvisionedThroughputSettings: settings('Read') },
  };
}
