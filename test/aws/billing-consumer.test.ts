import { Duration, RemovalPolicy, Stack, Token } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as ecs from 'aws-cdk-lib/aws-ecs';
import { StreamMode } from 'aws-cdk-lib/aws-kinesis';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { describe, expect, it } from 'vitest';
import {
  BillingConsumer,
  type BillingConsumerProps,
  BillingStream,
  LeaseTable,
  LedgerDatabase,
  SpendCap,
  StripeMode,
} from '../../constructs/aws';
import { ENVIRONMENT } from '../../runtime/contract';
import { consumerStack, container, image, newStack, only, resources, statements, stripeKey, vpcOf } from './stack';

const withProps = (props: Partial<BillingConsumerProps>) => consumerStack((given) => ({ ...given, ...props })).stack;
const ref = (start: string) => ({ Ref: expect.stringMatching(new RegExp(`^${start}`)) });
const att = (start: string, name: string) => ({ 'Fn::GetAtt': [expect.stringMatching(new RegExp(`^${start}`)), name] });

describe('the worker’s environment', () => {
  it('says where everything is, and nothing that the runtime knows better', () => {
    expect(container(consumerStack().stack, 'worker').environment).toEqual({
      SOURCE: 'kinesis',
      STREAM_NAME: ref('Stream'),
      LEASE_TABLE_NAME: ref('Leases'),
      LEASE_DURATION_MS: '10000',
      AWS_REGION: { Ref: 'AWS::Region' },
      PGHOST: att('Ledger', 'Endpoint.Address'),
      PGPORT: att('Ledger', 'Endpoint.Port'),
      PGDATABASE: 'chargeonce',
      PGSSLMODE: 'verify-full',
      STRIPE_MODE: 'test',
      STRIPE_MAX_RPS: '5',
      SPEND_CAP_MODE: 'off',
      HEALTH_PORT: '8080',
    });
  });

  it('uses names the runtime reads, and no others', () => {
    const { stack } = consumerStack((props) => ({ ...props, spendCap: SpendCap.perPeriod({ usd: 1 }) }));
    for (const name of ['worker', 'migrate'] as const) {
      const { environment, secrets } = container(stack, name);
      for (const each of [...Object.keys(environment), ...Object.keys(secrets)]) {
        expect(Object.keys(ENVIRONMENT)).toContain(each);
      }
    }
  });

  it('gets passwords and keys from secrets only', () => {
    const { secrets } = container(consumerStack().stack, 'worker');
    const field = (name: string) => ({ 'Fn::Join': ['', [ref('LedgerOwnerSecretAttachment'), `:${name}::`]] });
    expect(secrets).toEqual({
      PGUSER: field('username'),
      PGPASSWORD: field('password'),
      STRIPE_API_KEY: { 'Fn::Join': ['', expect.arrayContaining([':secret:billing/stripe-rk'])] },
    });
  });

  it('stripeKeyField', () => {
    const { secrets } = container(withProps({ stripeKeyField: 'key' }), 'worker');
    expect(JSON.stringify(secrets.STRIPE_API_KEY)).toContain('billing/stripe-rk:key::');
  });

  it('spendCap', () => {
    const { environment } = container(withProps({ spendCap: SpendCap.perPeriod({ usd: 50_000_00 }) }), 'worker');
    expect(environment).toMatchObject({ SPEND_CAP_MODE: 'ledger', SPEND_CAP_DEFAULT: 'usd:5000000' });
  });

  it('stripeMode', () => {
    expect(container(withProps({ stripeMode: StripeMode.LIVE }), 'worker').environment.STRIPE_MODE).toBe('live');
  });

  it('stripeMaxRps, desiredCount: the fleet’s rate is divided by the most tasks at once', () => {
    const rate = (props: Partial<BillingConsumerProps>) =>
      container(withProps(props), 'worker').environment.STRIPE_MAX_RPS;
    expect(rate({ desiredCount: 4 })).toBe('2.5');
    expect(rate({ stripeMaxRps: 100, desiredCount: 3 })).toBe('16.66');
  });

  it('leaseTable: the lease duration is read from there', () => {
    const { stack } = consumerStack((props, scope) => ({
      ...props,
      leaseTable: new LeaseTable(scope, 'Slow', { leaseDuration: Duration.seconds(30) }),
    }));
    expect(container(stack, 'worker').environment).toMatchObject({
      LEASE_DURATION_MS: '30000',
      LEASE_TABLE_NAME: ref('Slow'),
    });
  });

  it('environment: more settings', () => {
    const environment = { [ENVIRONMENT.DEFAULT_CURRENCY]: 'eur', NODE_OPTIONS: '--max-old-space-size=300' };
    expect(container(withProps({ environment }), 'worker').environment).toMatchObject(environment);
  });
});

describe('the containers', () => {
  it('migrates first; the worker starts on its success', () => {
    const { stack } = consumerStack();
    expect(container(stack, 'migrate')).toMatchObject({
      definition: {
        Command: ['migrate', '--apply'],
        Essential: false,
        User: '1000:1000',
        ReadonlyRootFilesystem: true,
      },
    });
    expect(Object.keys(container(stack, 'migrate').environment).sort()).toEqual([
      'PGDATABASE',
      'PGHOST',
      'PGPORT',
      'PGSSLMODE',
    ]);
    expect(Object.keys(container(stack, 'migrate').secrets)).toEqual(['PGUSER', 'PGPASSWORD']);
    expect(container(stack, 'worker').definition).toMatchObject({
      Command: ['consume'],
      Essential: true,
      DependsOn: [{ ContainerName: 'migrate', Condition: 'SUCCESS' }],
    });
  });

  it('runs without root, without a writable disk, with time to stop, and is asked whether it lives', () => {
    expect(container(consumerStack().stack, 'worker').definition).toMatchObject({
      User: '1000:1000',
      ReadonlyRootFilesystem: true,
      StopTimeout: 120,
      HealthCheck: {
        Command: ['CMD', 'node', '-e', expect.stringContaining('http://127.0.0.1:8080/healthz')],
        Interval: 30,
        Timeout: 10,
        Retries: 3,
        StartPeriod: 120,
      },
    });
  });

  it('cpu, memoryLimitMiB, cpuArchitecture: small and on ARM when nothing is said', () => {
    const task = (props: Partial<BillingConsumerProps>) =>
      only(withProps(props), 'AWS::ECS::TaskDefinition').Properties;
    expect(task({})).toMatchObject({ Cpu: '256', Memory: '512', RuntimePlatform: { CpuArchitecture: 'ARM64' } });
    expect(task({ cpu: 512, memoryLimitMiB: 1024, cpuArchitecture: ecs.CpuArchitecture.X86_64 })).toMatchObject({
      Cpu: '512',
      Memory: '1024',
      RuntimePlatform: { CpuArchitecture: 'X86_64' },
    });
  });

  it('image', () => {
    expect(container(consumerStack().stack, 'worker').definition.Image).toBe('example.test/chargeonce@sha256:0');
    expect(container(consumerStack().stack, 'migrate').definition.Image).toBe('example.test/chargeonce@sha256:0');
  });

  it('are never stalled by their logs', () => {
    const { stack } = consumerStack();
    for (const name of ['worker', 'migrate'] as const) {
      expect(container(stack, name).definition.LogConfiguration).toEqual({
        LogDriver: 'awslogs',
        Options: {
          'awslogs-group': ref('ConsumerLogs'),
          'awslogs-region': { Ref: 'AWS::Region' },
          'awslogs-stream-prefix': name,
          mode: 'non-blocking',
          'max-buffer-size': '16777216b',
        },
      });
    }
  });

  it('logRetention, removalPolicy: of the logs', () => {
    expect(only(consumerStack().stack, 'AWS::Logs::LogGroup')).toMatchObject({
      Properties: { RetentionInDays: 90 },
      DeletionPolicy: 'Retain',
    });
    const changed = withProps({ logRetention: RetentionDays.ONE_YEAR, removalPolicy: RemovalPolicy.DESTROY });
    expect(only(changed, 'AWS::Logs::LogGroup')).toMatchObject({
      Properties: { RetentionInDays: 365 },
      DeletionPolicy: 'Delete',
    });
  });
});

describe('the service', () => {
  it('replaces tasks one by one, rolls back, tags its tasks, has no public address', () => {
    expect(only(consumerStack().stack, 'AWS::ECS::Service').Properties).toMatchObject({
      DesiredCount: 2,
      LaunchType: 'FARGATE',
      PropagateTags: 'SERVICE',
      DeploymentConfiguration: {
        MinimumHealthyPercent: 100,
        MaximumPercent: 200,
        DeploymentCircuitBreaker: { Enable: true, Rollback: true },
      },
      NetworkConfiguration: {
        AwsvpcConfiguration: {
          AssignPublicIp: 'DISABLED',
          Subnets: [ref('VpcPrivateSubnet1'), ref('VpcPrivateSubnet2')],
        },
      },
    });
  });

  it('desiredCount', () => {
    expect(only(withProps({ desiredCount: 5 }), 'AWS::ECS::Service').Properties.DesiredCount).toBe(5);
  });

  it('vpcSubnets', () => {
    const stack = withProps({ vpcSubnets: { subnetType: ec2.SubnetType.PUBLIC } });
    expect(JSON.stringify(only(stack, 'AWS::ECS::Service').Properties.NetworkConfiguration)).toContain('VpcPublic');
  });

  it('cluster: the given one, or one of its own in vpc with insights on', () => {
    expect(only(consumerStack().stack, 'AWS::ECS::Cluster').Properties.ClusterSettings).toEqual([
      { Name: 'containerInsights', Value: 'enabled' },
    ]);
    const { stack } = consumerStack(({ vpc, ...props }, scope) => ({
      ...props,
      cluster: new ecs.Cluster(scope, 'Shared', { vpc: vpc! }) as ecs.ICluster,
    }));
    expect(only(stack, 'AWS::ECS::Service').Properties.Cluster).toEqual(ref('Shared'));
  });

  it('may reach the ledger’s port', () => {
    expect(only(consumerStack().stack, 'AWS::EC2::SecurityGroupIngress').Properties).toMatchObject({
      IpProtocol: 'tcp',
      FromPort: att('Ledger', 'Endpoint.Port'),
      ToPort: att('Ledger', 'Endpoint.Port'),
      GroupId: att('LedgerSecurityGroup', 'GroupId'),
      SourceSecurityGroupId: att('ConsumerServiceSecurityGroup', 'GroupId'),
    });
  });

  it('works across three stacks: data refers to nothing of compute', () => {
    const net = newStack('Net');
    const data = new Stack(net.node.root as ecs.Cluster['stack'], 'Data');
    const compute = new Stack(net.node.root as ecs.Cluster['stack'], 'Compute');
    const vpc = vpcOf(net);
    new BillingConsumer(compute, 'Consumer', {
      stream: new BillingStream(data, 'Stream'),
      leaseTable: new LeaseTable(data, 'Leases'),
      ledger: new LedgerDatabase(data, 'Ledger', { vpc }),
      stripeKey: stripeKey(compute),
      spendCap: SpendCap.off(),
      vpc,
      image,
    });
    expect(Object.keys(resources(compute, 'AWS::EC2::SecurityGroupIngress'))).toHaveLength(1);
    expect(Object.keys(resources(data, 'AWS::EC2::SecurityGroupIngress'))).toHaveLength(0);
    expect(data.dependencies).not.toContain(compute);
  });
});

describe('what the roles may do', () => {
  it('the task reads the stream and keeps its leases, on exactly these resources', () => {
    expect(statements(consumerStack().stack, 'TaskRole')).toEqual([
      {
        Action: [
          'kinesis:DescribeStreamSummary',
          'kinesis:GetRecords',
          'kinesis:GetShardIterator',
          'kinesis:ListShards',
        ],
        Effect: 'Allow',
        Resource: att('Stream', 'Arn'),
      },
      {
        Action: [
          'dynamodb:DeleteItem',
          'dynamodb:DescribeTable',
          'dynamodb:GetItem',
          'dynamodb:PutItem',
          'dynamodb:Scan',
          'dynamodb:UpdateItem',
        ],
        Effect: 'Allow',
        Resource: att('Leases', 'Arn'),
      },
      {
        Action: 'dynamodb:Query',
        Effect: 'Allow',
        Resource: { 'Fn::Join': ['', [att('Leases', 'Arn'), '/index/LeaseOwnerToLeaseKeyIndex']] },
      },
    ]);
  });

  it('the execution role reads the two secrets and writes the logs', () => {
    const read = ['secretsmanager:GetSecretValue', 'secretsmanager:DescribeSecret'];
    expect(statements(consumerStack().stack, 'ExecutionRole')).toEqual([
      { Action: ['logs:CreateLogStream', 'logs:PutLogEvents'], Effect: 'Allow', Resource: att('ConsumerLogs', 'Arn') },
      { Action: read, Effect: 'Allow', Resource: ref('LedgerOwnerSecretAttachment') },
      {
        Action: read,
        Effect: 'Allow',
        Resource: { 'Fn::Join': ['', expect.arrayContaining([':secret:billing/stripe-rk-??????'])] },
      },
    ]);
  });
});

describe('refuses', () => {
  const provisioned = (scope: Stack) =>
    new BillingStream(scope, 'Small', { streamMode: StreamMode.PROVISIONED, shardCount: 2 });

  it.each<[string, (props: BillingConsumerProps, stack: Stack) => BillingConsumerProps, string]>([
    ['neither cluster nor vpc', ({ vpc: _, ...props }) => props, 'cluster, vpc is neither given; allowed: exactly one'],
    [
      'both cluster and vpc',
      (props, stack) => ({ ...props, cluster: new ecs.Cluster(stack, 'C', { vpc: props.vpc! }) as ecs.ICluster }),
      'cluster, vpc is both given; allowed: exactly one',
    ],
    [
      'isolated subnets',
      (props) => ({ ...props, vpcSubnets: { subnetType: ec2.SubnetType.PRIVATE_ISOLATED } }),
      'vpcSubnets is PRIVATE_ISOLATED; allowed: subnets with egress. Isolated subnets have no way to Stripe.',
    ],
    [
      'more tasks than shards',
      (props, stack) => ({ ...props, stream: provisioned(stack), desiredCount: 3 }),
      'desiredCount is 3; allowed: at most 2, the shards.',
    ],
    [
      'half a task',
      (props) => ({ ...props, desiredCount: 1.5 }),
      'desiredCount is 1.5; allowed: a whole number from 0',
    ],
    [
      'a count that is not known',
      (props) => ({ ...props, desiredCount: Token.asNumber({ Ref: 'Count' }) }),
      'desiredCount is a token; allowed: a number known at synth',
    ],
    ['no rate', (props) => ({ ...props, stripeMaxRps: 0 }), 'stripeMaxRps is 0; allowed: a number from 0.04'],
  ])('%s', (_, change, message) => {
    expect(() => consumerStack(change)).toThrow(`[Billing/Consumer] ${message}`);
  });

  it.each([
    ...Object.keys(container(consumerStack().stack, 'worker').environment),
    ...Object.keys(container(consumerStack().stack, 'worker').secrets),
    'DATABASE_URL',
    'WORKER_ID',
    'CHARGEONCE_CRASH_AT',
    'SPEND_CAP_DEFAULT',
  ])('%s in environment, which the construct owns', (name) => {
    expect(() => withProps({ environment: { [name]: 'mine' } })).toThrow(
      `[Billing/Consumer] environment is a map with ${name}; allowed: names the construct does not set itself.`,
    );
  });
});
