/** Reads back what wakes people: alarms, dashboards, the topic that pages. */
import { DescribeAlarmsCommand, GetDashboardCommand, ListTagsForResourceCommand } from '@aws-sdk/client-cloudwatch';
import { GetTopicAttributesCommand, ListTagsForResourceCommand as ListTopicTags } from '@aws-sdk/client-sns';
import type { AwsClients } from '../clients';
import { type Json, only, type Reader, tags } from './reading';

const alarm: Reader = {
  async read(aws, { physicalId }) {
    const command = new DescribeAlarmsCommand({ AlarmNames: [physicalId], AlarmTypes: ['MetricAlarm'] });
    const found = only((await aws.cloudWatch.send(command)).MetricAlarms, physicalId);
    const { AlarmArn: Arn, ...properties } = found;
    return {
      properties: { ...properties, Tags: await tagsOf(aws, Arn) } as unknown as { [key: string]: Json },
      attributes: { Arn },
    };
  },
};

const compositeAlarm: Reader = {
  async read(aws, { physicalId }) {
    const command = new DescribeAlarmsCommand({ AlarmNames: [physicalId], AlarmTypes: ['CompositeAlarm'] });
    const found = only((await aws.cloudWatch.send(command)).CompositeAlarms, physicalId);
    const { AlarmArn: Arn, ...properties } = found;
    return {
      properties: { ...properties, Tags: await tagsOf(aws, Arn) } as unknown as { [key: string]: Json },
      attributes: { Arn },
    };
  },
};

async function tagsOf({ cloudWatch }: AwsClients, ResourceARN: string | undefined): Promise<Json> {
  return tags((await cloudWatch.send(new ListTagsForResourceCommand({ ResourceARN }))).Tags);
}

const dashboard: Reader = {
  notKept: { Tags: 'The emulator has no tags of dashboards.' },
  async read({ cloudWatch }, { physicalId: DashboardName }) {
    const { DashboardBody } = await cloudWatch.send(new GetDashboardCommand({ DashboardName }));
    return { properties: { DashboardName, DashboardBody } };
  },
};

const topic: Reader = {
  async read({ sns }, { physicalId: TopicArn }) {
    const { Attributes = {} } = await sns.send(new GetTopicAttributesCommand({ TopicArn }));
    const { Tags } = await sns.send(new ListTopicTags({ ResourceArn: TopicArn }));
    return {
      properties: { DisplayName: Attributes.DisplayName, KmsMasterKeyId: Attributes.KmsMasterKeyId, Tags: tags(Tags) },
      attributes: { TopicArn: Attributes.TopicArn },
    };
  },
};

/** One policy for each topic that it names. */
const topicPolicy: Reader = {
  async read({ sns }, { properties }) {
    const policies = (properties.Topics as readonly string[]).map(async (TopicArn) => {
      const { Attributes = {} } = await sns.send(new GetTopicAttributesCommand({ TopicArn }));
      return Attributes.Policy ?? '';
    });
    const policy = only([...new Set(await Promise.all(policies))], `policies of ${properties.Topics}`);
    return { properties: { Topics: properties.Topics, PolicyDocument: JSON.parse(policy) as Json } };
  },
};

export const MONITORING_READERS: Readonly<Record<string, Reader>> = {
  'AWS::CloudWatch::Alarm': alarm,
  'AWS::CloudWatch::CompositeAlarm': compositeAlarm,
  'AWS::CloudWatch::Dashboard': dashboard,
  'AWS::SNS::Topic': topic,
  'AWS::SNS::TopicPolicy': topicPolicy,
};
