import { Duration, RemovalPolicy, Size, Stack } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as kinesis from 'aws-cdk-lib/aws-kinesis';
import { ShardLevelMetrics, StreamMode } from 'aws-cdk-lib/aws-kinesis';
import * as kms from 'aws-cdk-lib/aws-kms';
import { describe, expect, it } from 'vitest';
import { BillingStream, type BillingStreamProps, type IBillingStream } from '../../constructs/aws';
import { newStack, only, statements } from './stack';

const streamOf = (props?: BillingStreamProps) => {
  const stack = newStack();
  const stream = new BillingStream(stack, 'Stream', props);
  return { stack, stream, resource: () => only(stack, 'AWS::Kinesis::Stream') };
};
const arnOf = (id: string) => ({ 'Fn::GetAtt': [expect.stringMatching(new RegExp(`^${id}`)), 'Arn'] });
const actionsOf = (statement: unknown) => [(statement as { Action: string | string[] }).Action].flat();

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
    expect(stream.retentionPeriod.toDays()).toBe(7);
    expect(stream.maxRecordSize.toMebibytes()).toBe(1);
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
    const { resource, stream } = streamOf({ retentionPeriod: Duration.hours(48) });
    expect(resource().Properties.RetentionPeriodHours).toBe(48);
    expect(stream.retentionPeriod.toHours()).toBe(48);
    expect(streamOf({ retentionPeriod: Duration.days(365) }).resource().Properties.RetentionPeriodHours).toBe(8_760);
  });

  it('maxRecordSize', () => {
    const { resource, stream } = streamOf({ maxRecordSize: Size.mebibytes(10) });
    expect(resource().Properties.MaxRecordSizeInKiB).toBe(10_240);
    expect(stream.maxRecordSize.toMebibytes()).toBe(10);
    expect(streamOf({ maxRecordSize: Size.mebibytes(1) }).resource().Properties.MaxRecordSizeInKiB).toBe(1_024);
  });

  it('encryptionKey', () => {
    const stack = newStack();
    new BillingStream(stack, 'Stream', { encryptionKey: new kms.Key(stack, 'Key') });
    expect(only(stack, 'AWS::Kinesis::Stream').Properties.StreamEncryption).toEqual({
      EncryptionType: 'KMS',
      KeyId: arnOf('Key'),
    });
  });

  it('streamName', () => {
    expect(streamOf({ streamName: 'usage' }).resource().Properties.Name).toBe('usage');
  });

  it('shardLevelMetrics', () => {
    const { resource } = streamOf({ shardLevelMetrics: [ShardLevelMetrics.ITERATOR_AGE_MILLISECONDS] });
    expect(resource().Properties.DesiredShardLevelMetrics).toEqual(['IteratorAgeMilliseconds']);
  });

  it('removalPolicy', () => {
    expect(streamOf({ removalPolicy: RemovalPolicy.DESTROY }).resource().DeletionPolicy).toBe('Delete');
  });

  it.each<[string, BillingStreamProps, string]>([
    [
      'retention below 48 h',
      { retentionPeriod: Duration.hours(24) },
      'retentionPeriod is 24 h; allowed: 48 h or more. Stripe may forget an idempotency key after 24 h, so a shorter stream would lose events before an outage is repaired. Leave it out for 7 days.',
    ],
    ['one minute less', { retentionPeriod: Duration.minutes(48 * 60 - 1) }, 'retentionPeriod is 47.98'],
    [
      'retention beyond a year',
      { retentionPeriod: Duration.days(366) },
      'retentionPeriod is 8784 h; allowed: whole hours from 48 to 8760. Kinesis takes no other. Leave it out for 7 days.',
    ],
    [
      'half an hour',
      { retentionPeriod: Duration.minutes(90 * 60 + 30) },
      'retentionPeriod is 90.5 h; allowed: whole hours from 48 to 8760. Kinesis takes no other. Leave it out for 7 days.',
    ],
    [
      'one shard',
      { streamMode: StreamMode.PROVISIONED, shardCount: 1 },
      'shardCount is 1; allowed: a whole number from 2 when PROVISIONED. One shard would stop all billing whenever it is resharded or its worker restarts.',
    ],
    [
      'half a shard',
      { streamMode: StreamMode.PROVISIONED, shardCount: 2.5 },
      'shardCount is 2.5; allowed: a whole number from 2 when PROVISIONED. One shard would',
    ],
    [
      'no shard count',
      { streamMode: StreamMode.PROVISIONED },
      'shardCount is not given; allowed: a whole number from 2 when PROVISIONED. One shard would',
    ],
    [
      'shards on demand',
      { shardCount: 2 },
      'shardCount is 2; allowed: none when the stream is on demand. Leave it out, or say streamMode: StreamMode.PROVISIONED.',
    ],
    [
      'records below 1 MiB',
      { maxRecordSize: Size.kibibytes(1_023) },
      'maxRecordSize is 1023 KiB; allowed: whole KiB from 1 MiB to 10 MiB. Kinesis takes no other. Leave it out for 1 MiB.',
    ],
    [
      'records above 10 MiB',
      { maxRecordSize: Size.mebibytes(11) },
      'maxRecordSize is 11264 KiB; allowed: whole KiB from 1 MiB to 10 MiB. Kinesis takes no other. Leave it out for 1 MiB.',
    ],
  ])('refuses %s', (_, props, message) => {
    expect(() => streamOf(props)).toThrow(`[Billing/Stream] ${message}`);
  });
});

describe('what a stream grants', () => {
  it('lets a producer publish and nothing else', () => {
    const { stack, stream } = streamOf();
    stream.grantPublish(new iam.User(stack, 'Metering'));
    const policy = only(stack, 'AWS::IAM::Policy').Properties.PolicyDocument.Statement;
    expect(policy).toEqual([
      { Action: ['kinesis:PutRecord', 'kinesis:PutRecords'], Effect: 'Allow', Resource: arnOf('Stream') },
    ]);
  });

  it('lets a worker poll and nothing else', () => {
    const { stack, stream } = streamOf();
    stream.grantConsume(new iam.User(stack, 'Worker'));
    expect(only(stack, 'AWS::IAM::Policy').Properties.PolicyDocument.Statement).toEqual([
      {
        Action: [
          'kinesis:DescribeStreamSummary',
          'kinesis:GetRecords',
          'kinesis:GetShardIterator',
          'kinesis:ListShards',
        ],
        Effect: 'Allow',
        Resource: arnOf('Stream'),
      },
    ]);
  });

  it('lets a producer make data keys with the key, and a worker decrypt with it', () => {
    const stack = newStack();
    const stream = new BillingStream(stack, 'Stream', { encryptionKey: new kms.Key(stack, 'Key') });
    const role = (id: string) => new iam.Role(stack, id, { assumedBy: new iam.ServicePrincipal('ecs.amazonaws.com') });
    stream.grantPublish(role('Producer'));
    stream.grantConsume(role('Worker'));
    const onKey = (of: string) =>
      statements(stack, of).filter((each) => JSON.stringify((each as { Resource: unknown }).Resource).includes('"Key'));
    expect(onKey('Producer')).toEqual([{ Action: 'kms:GenerateDataKey', Effect: 'Allow', Resource: arnOf('Key') }]);
    expect(onKey('Worker')).toEqual([{ Action: 'kms:Decrypt', Effect: 'Allow', Resource: arnOf('Key') }]);
  });
});

describe('a producer of another account', () => {
  const HERE = '111111111111';
  const THERE = '222222222222';
  const env = { account: HERE, region: 'eu-west-1' };
  const stackHere = () => newStack('Billing', { env });
  const strangers: readonly [string, (stack: ReturnType<typeof newStack>) => iam.IGrantable][] = [
    ['an account', () => new iam.AccountPrincipal(THERE)],
    ['an ARN', () => new iam.ArnPrincipal(`arn:aws:iam::${THERE}:role/metering`)],
    ['an imported role', (stack) => iam.Role.fromRoleArn(stack, 'Metering', `arn:aws:iam::${THERE}:role/metering`)],
    [
      'an ARN on conditions',
      () =>
        new iam.PrincipalWithConditions(new iam.ArnPrincipal(`arn:aws:iam::${THERE}:role/metering`), {
          StringEquals: { 'aws:PrincipalTag/team': 'metering' },
        }),
    ],
  ];

  it.each(strangers)('is refused without a key of your own: %s', (_, stranger) => {
    const stack = stackHere();
    const stream = new BillingStream(stack, 'Stream');
    expect(() => stream.grantPublish(stranger(stack))).toThrow(
      `[Billing/Stream] grantPublish is for ${THERE}; allowed: principals of the stream’s own account (${HERE}). ` +
        'No other account can use the key that AWS manages: give the stream an encryptionKey, or grant to a role of this account that the producer assumes.',
    );
  });

  it.each([
    ['everybody', new iam.AnyPrincipal()],
    ['an organization', new iam.OrganizationPrincipal('o-1234567890')],
  ])('is refused without a key of your own, even where accounts are not known: %s', (_, anybody) => {
    expect(() => streamOf().stream.grantPublish(anybody)).toThrow(
      '[Billing/Stream] grantPublish is for any account; allowed: principals of the stream’s own account. No other',
    );
  });

  it.each(strangers)('gets into stream and key by their policies: %s', (_, stranger) => {
    const stack = stackHere();
    const stream = new BillingStream(stack, 'Stream', { encryptionKey: new kms.Key(stack, 'Key') });
    stream.grantPublish(stranger(stack));
    const policy = only(stack, 'AWS::Kinesis::ResourcePolicy').Properties;
    expect(policy.ResourceArn).toEqual(arnOf('Stream'));
    expect(policy.ResourcePolicy.Statement).toEqual([
      expect.objectContaining({
        Action: ['kinesis:PutRecord', 'kinesis:PutRecords'],
        Effect: 'Allow',
        Principal: { AWS: expect.anything() },
        Resource: arnOf('Stream'),
      }),
    ]);
    expect(JSON.stringify(policy)).toContain(THERE);
    const onKey = only(stack, 'AWS::KMS::Key').Properties.KeyPolicy.Statement as unknown[];
    const opened = onKey.filter((each) => JSON.stringify(each).includes(THERE));
    expect(opened.map(actionsOf)).toEqual([['kms:GenerateDataKey']]);
  });

  it('is seen in a role that another stack of this app makes there', () => {
    const stack = stackHere();
    const there = new Stack(stack.node.root, 'There', { env: { account: THERE, region: 'eu-west-1' } });
    const assumedBy = new iam.ServicePrincipal('ec2.amazonaws.com');
    const role = new iam.Role(there, 'Metering', { roleName: 'metering', assumedBy });
    expect(() => new BillingStream(stack, 'Stream').grantPublish(role)).toThrow(
      `[Billing/Stream] grantPublish is for ${THERE}; allowed: principals of the stream’s own account (${HERE}). No`,
    );
  });

  it('may be anybody of an organization, on condition that it is', () => {
    const stack = stackHere();
    const stream = new BillingStream(stack, 'Stream', { encryptionKey: new kms.Key(stack, 'Key') });
    stream.grantPublish(new iam.OrganizationPrincipal('o-1234567890'));
    const onlyThere = { StringEquals: { 'aws:PrincipalOrgID': 'o-1234567890' } };
    const { Statement } = only(stack, 'AWS::Kinesis::ResourcePolicy').Properties.ResourcePolicy;
    expect(Statement).toEqual([expect.objectContaining({ Condition: onlyThere, Principal: { AWS: '*' } })]);
    const onKey = only(stack, 'AWS::KMS::Key').Properties.KeyPolicy.Statement as unknown[];
    expect(onKey).toContainEqual(
      expect.objectContaining({ Action: 'kms:GenerateDataKey', Condition: onlyThere, Principal: { AWS: '*' } }),
    );
  });

  it('is refused when the key is imported: its policy is not made here, and the CDK would say nothing', () => {
    const stack = stackHere();
    const encryptionKey = kms.Key.fromKeyArn(stack, 'Key', `arn:aws:kms:eu-west-1:${HERE}:key/1`);
    const stream = new BillingStream(stack, 'Stream', { encryptionKey });
    expect(() => stream.grantPublish(new iam.AccountPrincipal(THERE))).toThrow(
      `[Billing/Stream] grantPublish is for ${THERE}; allowed: principals of the stream’s own account (${HERE}). ` +
        'The encryptionKey is imported, so that its policy cannot be changed here: give a kms.Key that is made in this app, or grant to a role of this account that the producer assumes.',
    );
  });

  it('is refused when the stream is imported: its policy is not made here either', () => {
    const stack = stackHere();
    const imported = kinesis.Stream.fromStreamArn(stack, 'Usage', `arn:aws:kinesis:eu-west-1:${HERE}:stream/usage`);
    const stream = BillingStream.fromStream(stack, 'Stream', imported);
    expect(() => stream.grantPublish(new iam.AccountPrincipal(THERE))).toThrow(
      `[Billing/Stream] grantPublish is for ${THERE}; allowed: principals of the stream’s own account (${HERE}). ` +
        'The stream is imported, so that its resource policy cannot be changed here: grant where it is made.',
    );
  });

  it.each<[string, (stack: ReturnType<typeof newStack>) => iam.IGrantable]>([
    ['of the same account', () => new iam.AccountPrincipal(HERE)],
    ['by name', (stack) => iam.Role.fromRoleName(stack, 'Metering', 'metering')],
    ['a service', () => new iam.ServicePrincipal('iot.amazonaws.com')],
  ])('is not seen in a principal %s', (_, principal) => {
    const stack = stackHere();
    expect(() => new BillingStream(stack, 'Stream').grantPublish(principal(stack))).not.toThrow();
  });

  it('is not guessed where the stream’s own account is not known', () => {
    expect(() => streamOf().stream.grantPublish(new iam.AccountPrincipal(THERE))).not.toThrow();
  });
});

describe('BillingStream.fromStream', () => {
  const ARN = 'arn:aws:kinesis:eu-west-1:111111111111:stream/usage';
  const warningsOf = (stream: IBillingStream) =>
    stream.node.metadata.filter((each) => each.type === 'aws:cdk:warning').map((each) => String(each.data));

  it('knows of an imported stream what it is told', () => {
    const stack = newStack();
    const imported = kinesis.Stream.fromStreamArn(stack, 'Usage', ARN);
    const plain = BillingStream.fromStream(stack, 'Plain', imported);
    expect(plain.stream).toBe(imported);
    expect([plain.shardCount, plain.retentionPeriod, plain.maxRecordSize]).toEqual([undefined, undefined, undefined]);
    expect(BillingStream.fromStream(stack, 'Sharded', imported, { shardCount: 8 }).shardCount).toBe(8);
  });

  it('reads the rest from a stream that this app makes', () => {
    const stack = newStack();
    const made = new kinesis.Stream(stack, 'Usage', { shardCount: 3, retentionPeriod: Duration.hours(72) });
    const stream = BillingStream.fromStream(stack, 'Stream', made as kinesis.IStream);
    expect(stream.shardCount).toBe(3);
    expect(stream.retentionPeriod?.toHours()).toBe(72);
    expect(warningsOf(stream)).toEqual([]);
  });

  it('refuses a stream of this app that forgets too soon, as one made here', () => {
    const stack = newStack();
    const made = new kinesis.Stream(stack, 'Usage') as kinesis.IStream;
    expect(() => BillingStream.fromStream(stack, 'Stream', made)).toThrow(
      '[Billing/Stream] retentionPeriod is 24 h; allowed: 48 h or more. Stripe may forget',
    );
  });

  it('uses the key that it is given, or that the stream is imported with', () => {
    const keyOf = (how: 'option' | 'attributes') => {
      const stack = newStack();
      const encryptionKey = kms.Key.fromKeyArn(stack, 'Key', 'arn:aws:kms:eu-west-1:111111111111:key/1');
      const imported = kinesis.Stream.fromStreamAttributes(stack, 'Usage', {
        streamArn: ARN,
        ...(how === 'attributes' ? { encryptionKey } : {}),
      });
      const stream = BillingStream.fromStream(stack, 'Stream', imported, how === 'option' ? { encryptionKey } : {});
      expect(warningsOf(stream)).toEqual([]);
      stream.grantConsume(new iam.User(stack, 'Worker'));
      return only(stack, 'AWS::IAM::Policy').Properties.PolicyDocument.Statement;
    };
    const onKey = { Action: 'kms:Decrypt', Effect: 'Allow', Resource: 'arn:aws:kms:eu-west-1:111111111111:key/1' };
    expect(keyOf('option')).toContainEqual(onKey);
    expect(keyOf('attributes')).toContainEqual(onKey);
  });

  it.each([kinesis.StreamEncryption.MANAGED, kinesis.StreamEncryption.UNENCRYPTED])(
    'does not warn of a missing key when the encryption is said: %s',
    (encryption) => {
      const stack = newStack();
      const imported = kinesis.Stream.fromStreamArn(stack, 'Usage', ARN);
      expect(warningsOf(BillingStream.fromStream(stack, 'Stream', imported, { encryption }))).toEqual([]);
    },
  );

  it('refuses what contradicts itself', () => {
    const stack = newStack();
    const encryptionKey = kms.Key.fromKeyArn(stack, 'Key', 'arn:aws:kms:eu-west-1:111111111111:key/1');
    const imported = kinesis.Stream.fromStreamArn(stack, 'Usage', ARN);
    const { KMS, MANAGED } = kinesis.StreamEncryption;
    expect(() => BillingStream.fromStream(stack, 'A', imported, { encryption: KMS })).toThrow(
      '[Billing/A] encryptionKey is not given; allowed: the key, when encryption is KMS. Without it no worker may decrypt and no producer may encrypt. Give kms.Key.fromKeyArn(…).',
    );
    expect(() => BillingStream.fromStream(stack, 'B', imported, { encryption: MANAGED, encryptionKey })).toThrow(
      '[Billing/B] encryption is MANAGED beside an encryptionKey; allowed: KMS, or none. Leave it out: it follows from the key.',
    );
  });
});

describe('the stream’s metrics', () => {
  const metrics = (stream: IBillingStream) => ({
    'GetRecords.IteratorAgeMilliseconds': stream.metricIteratorAge(),
    WriteProvisionedThroughputExceeded: stream.metricWriteThrottled(),
    'PutRecords.FailedRecords': stream.metricPutRecordsFailed(),
  });

  it('are those of this stream, made here or imported', () => {
    const { stack, stream } = streamOf();
    const imported = kinesis.Stream.fromStreamArn(stack, 'U', 'arn:aws:kinesis:eu-west-1:111111111111:stream/usage');
    for (const [of, name] of [
      [stream, { Ref: expect.stringMatching(/^Stream/) }],
      [BillingStream.fromStream(stack, 'Imported', imported), 'usage'],
    ] as const) {
      for (const [metricName, metric] of Object.entries(metrics(of))) {
        expect(metric).toMatchObject({ namespace: 'AWS/Kinesis', metricName });
        expect(metric.period.toSeconds()).toBe(60);
        expect(stack.resolve(metric.dimensions)).toEqual({ StreamName: name });
      }
    }
  });

  it('take what they are told', () => {
    expect(streamOf().stream.metricIteratorAge({ statistic: 'p99', period: Duration.minutes(5) })).toMatchObject({
      statistic: 'p99',
      period: Duration.minutes(5),
    });
  });
});
