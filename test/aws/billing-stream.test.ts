import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import { StreamMode } from 'aws-cdk-lib/aws-kinesis';
import * as kms from 'aws-cdk-lib/aws-kms';
import { describe, expect, it } from 'vitest';
import { BillingStream, type BillingStreamProps } from '../../constructs/aws';
import { newStack, only, statements } from './stack';

const streamOf = (props?: BillingStreamProps) => {
  const stack = newStack();
  const stream = new BillingStream(stack, 'Stream', props);
  return { stack, stream, resource: () => only(stack, 'AWS::Kinesis::Stream') };
};

describe('BillingStream', () => {
  it('is on demand, encrypted, kept for a week and retained when nothing is said', () => {
    const { resource, stream } = streamOf();
    expect(resource()).toEqual({
      Type: 'AWS::Kinesis::Stream',
      Properties: {
        RetentionPeriodHours: 168,
        StreamEncryption: { EncryptionType: 'KMS', KeyId: 'alias/aws/kinesis' },
        StreamModeDetails: { StreamMode: 'ON_DEMAND' },
      },
      DeletionPolicy: 'RetainExceptOnCreate',
      UpdateReplacePolicy: 'Retain',
    });
    expect(stream.shardCount).toBeUndefined();
  });

  it('streamMode, shardCount', () => {
    const { resource, stream } = streamOf({ streamMode: StreamMode.PROVISIONED, shardCount: 4 });
    expect(resource().Properties).toMatchObject({
      ShardCount: 4,
      StreamModeDetails: { StreamMode: 'PROVISIONED' },
    });
    expect(stream.shardCount).toBe(4);
  });

  it('retentionPeriod', () => {
    expect(streamOf({ retentionPeriod: Duration.hours(48) }).resource().Properties.RetentionPeriodHours).toBe(48);
  });

  it('encryptionKey', () => {
    const stack = newStack();
    new BillingStream(stack, 'Stream', { encryptionKey: new kms.Key(stack, 'Key') });
    expect(only(stack, 'AWS::Kinesis::Stream').Properties.StreamEncryption).toEqual({
      EncryptionType: 'KMS',
      KeyId: { 'Fn::GetAtt': [expect.stringMatching(/^Key/), 'Arn'] },
    });
  });

  it('streamName', () => {
    expect(streamOf({ streamName: 'usage' }).resource().Properties.Name).toBe('usage');
  });

  it('removalPolicy', () => {
    expect(streamOf({ removalPolicy: RemovalPolicy.DESTROY }).resource().DeletionPolicy).toBe('Delete');
  });

  it('lets a producer publish and nothing else', () => {
    const { stack, stream } = streamOf();
    stream.grantPublish(new iam.User(stack, 'Metering'));
    const policy = only(stack, 'AWS::IAM::Policy').Properties.PolicyDocument.Statement;
    expect(policy).toEqual([
      {
        Action: ['kinesis:PutRecord', 'kinesis:PutRecords'],
        Effect: 'Allow',
        Resource: { 'Fn::GetAtt': [expect.stringMatching(/^Stream/), 'Arn'] },
      },
    ]);
  });

  it('lets a producer use the key, and a worker decrypt with it', () => {
    const stack = newStack();
    const stream = new BillingStream(stack, 'Stream', { encryptionKey: new kms.Key(stack, 'Key') });
    const role = (id: string) => new iam.Role(stack, id, { assumedBy: new iam.ServicePrincipal('ecs.amazonaws.com') });
    stream.grantPublish(role('Producer'));
    stream.grantConsume(role('Worker'));
    const actions = (of: string) => (statements(stack, of) as { Action: string | string[] }[]).flatMap((s) => s.Action);
    expect(actions('Producer')).toEqual([
      'kms:Encrypt',
      'kms:ReEncrypt*',
      'kms:GenerateDataKey*',
      'kinesis:PutRecord',
      'kinesis:PutRecords',
    ]);
    expect(actions('Worker')).toEqual([
      'kms:Decrypt',
      'kinesis:DescribeStreamSummary',
      'kinesis:GetRecords',
      'kinesis:GetShardIterator',
      'kinesis:ListShards',
    ]);
  });

  it.each<[string, BillingStreamProps, string]>([
    [
      'retention below 48 h',
      { retentionPeriod: Duration.hours(24) },
      'retentionPeriod is 24 h; allowed: 48 h or more. ',
    ],
    ['one minute less', { retentionPeriod: Duration.minutes(48 * 60 - 1) }, 'retentionPeriod is 47.98'],
    ['one shard', { streamMode: StreamMode.PROVISIONED, shardCount: 1 }, 'shardCount is 1; allowed: 2 or more when'],
    ['no shard count', { streamMode: StreamMode.PROVISIONED }, 'shardCount is not given; allowed: 2 or more when'],
    [
      'shards on demand',
      { shardCount: 2 },
      'shardCount is 2; allowed: none when the stream is on demand. Leave it out',
    ],
  ])('refuses %s', (_, props, message) => {
    expect(() => streamOf(props)).toThrow(`[Billing/Stream] ${message}`);
  });
});
