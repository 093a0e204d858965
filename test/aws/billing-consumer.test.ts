import { Duration, NestedStack, RemovalPolicy, Size, type Stack } from 'aws-cdk-lib';
import * as ecs from 'aws-cdk-lib/aws-ecs';
import { Stream } from 'aws-cdk-lib/aws-kinesis';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { describe, expect, it } from 'vitest';
import {
  type BillingConsumerProps,
  BillingStream,
  LeaseTable,
  Migrations,
  SpendCap,
  StripeMode,
} from '../../constructs/aws';
import { ENVIRONMENT } from '../../runtime/contract';
import { att, consumerStack, container, newStack, only, ref } from './stack';

const STREAM_ARN = 'arn:aws:kinesis:eu-west-1:111122223333:stream/usage';
const withProps = (props: Partial<BillingConsumerProps>) => consumerStack((given) => ({ ...given, ...props })).stack;

describe('the worker’s environment', () => {
  it('says where everything is, and nothing that the runtime knows better', () => {
    expect(container(consumerStack().stack, 'worker').environment).toEqual({
      SOURCE: 'kinesis',
      STREAM_NAME: ref('Stream'),
      MAX_EVENT_BYTES: '1048576',
      LEASE_TABLE_NAME: ref('Leases'),
      LEASE_DURATION_MS: '10000',
      AWS_REGION: { Ref: 'AWS::Region' },
      DATABASE_AUTH: 'rds-iam',
      PGUSER: 'chargeonce_worker',
      PGHOST: att('Ledger', 'Endpoint.Address'),
      PGPORT: att('Ledger', 'Endpoint.Port'),
      PGDATABASE: 'chargeonce',
      PGSSLMODE: 'verify-full',
      STRIPE_MODE: 'test',
      STRIPE_MAX_RPS: '5',
      SPEND_CAP_MODE: 'off',
      HEALTH_PORT: '8080',
      METRICS_FORMAT: 'emf',
      METRICS_NAMESPACE: 'chargeonce',
      METRICS_SERVICE: expect.stringMatching(/^Billing-Consumer-[0-9A-F]{8}$/),
    });
  });

  it('uses names the runtime reads, and no others', () => {
    const { stack } = consumerStack((props) => ({ ...props, spendCap: SpendCap.perPeriod({ usd: 1 }) }));
    for (const name of ['worker', 'migrate', 'ops'] as const) {
      const { environment, secrets } = container(stack, name);
      for (const each of [...Object.keys(environment), ...Object.keys(secrets)]) {
        expect(Object.keys(ENVIRONMENT)).toContain(each);
      }
    }
  });

  it('gets the key of Stripe from a secret, and no password at all', () => {
    expect(container(consumerStack().stack, 'worker').secrets).toEqual({
      STRIPE_API_KEY: { 'Fn::Join': ['', expect.arrayContaining([':secret:billing/stripe-rk'])] },
    });
  });

  it('never sees the owner’s secret, in no way of migrating', () => {
    for (const migrations of [Migrations.AT_START, Migrations.MANUAL]) {
      const stack = withProps({ migrations });
      for (const name of ['worker', 'ops'] as const) {
        expect(JSON.stringify(container(stack, name).definition)).not.toContain('MasterUserSecret');
      }
      expect(JSON.stringify(container(stack, 'migrate').definition)).toContain('MasterUserSecret');
    }
  });

  it('stripeKeyField', () => {
    const { secrets } = container(withProps({ stripeKeyField: 'key' }), 'worker');
    expect(JSON.stringify(secrets.STRIPE_API_KEY)).toContain('billing/stripe-rk:key::');
  });

  it('spendCap', () => {
    const { environment } = container(withProps({ spendCap: SpendCap.perPeriod({ usd: 50_000_00 }) }), 'worker');
    expect(environment).toMatchObject({ SPEND_CAP_MODE: 'ledger', SPEND_CAP_DEFAULT: 'usd:5000000' });
    const ways = Object.getOwnPropertyNames(SpendCap).filter(
      (name) => typeof Reflect.get(SpendCap, name) === 'function',
    );
    expect(ways).toEqual(['perPeriod', 'off']);
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

  it('environment: more settings, for the ops task too: both must charge under the same keys', () => {
    const environment = { [ENVIRONMENT.BILLING_NAMESPACE]: 'mine', NODE_OPTIONS: '--max-old-space-size=300' };
    for (const name of ['worker', 'ops'] as const) {
      expect(container(withProps({ environment }), name).environment).toMatchObject(environment);
    }
    expect(container(withProps({ environment }), 'migrate').environment).not.toHaveProperty('BILLING_NAMESPACE');
  });

  it('stream: events may be as large as its records, when that is known', () => {
    const imported = (scope: Stack) => Stream.fromStreamArn(scope, 'Their', STREAM_ARN);
    const maxBytes = (stream: (scope: Stack) => BillingConsumerProps['stream']) => {
      const { stack } = consumerStack((props, scope) => ({ ...props, stream: stream(scope) }));
      return container(stack, 'worker').environment.MAX_EVENT_BYTES;
    };
    expect(maxBytes((scope) => new BillingStream(scope, 'Big', { maxRecordSize: Size.mebibytes(4) }))).toBe('4194304');
    expect(maxBytes((scope) => BillingStream.fromStream(scope, 'It', imported(scope)))).toBeUndefined();
  });

  it('stream: by its ARN when it may be in another account', () => {
    const { stack } = consumerStack((props, scope) => ({
      ...props,
      stream: BillingStream.fromStream(scope, 'It', Stream.fromStreamArn(scope, 'Their', STREAM_ARN)),
    }));
    const { environment } = container(stack, 'worker');
    expect(environment).toMatchObject({ STREAM_ARN });
    expect(environment).not.toHaveProperty('STREAM_NAME');
  });

  it('has metrics under a name of its own: another consumer, or another copy of the stack, has another', () => {
    const service = (stackName: string, id: string) => {
      const stack = newStack('Same', { stackName });
      const { consumer } = consumerStack(undefined, stack, id);
      expect(container(stack, 'worker').environment.METRICS_SERVICE).toBe(consumer.metricsService);
      return consumer.metricsService;
    };
    expect(new Set([service('one', 'A'), service('one', 'B'), service('two', 'A')]).size).toBe(3);
  });
});

describe('the containers', () => {
  it('migrates first; the worker starts on its success', () => {
    const { stack } = consumerStack();
    expect(container(stack, 'migrate')).toMatchObject({
      definition: {
        Command: ['migrate', '--apply', '--worker-role', 'chargeonce_worker', '--worker-auth', 'rds-iam'],
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
    const cpuArchitecture = ecs.CpuArchitecture.X86_64;
    for (const name of ['worker', 'ops'] as const) {
      const size = (props: Partial<BillingConsumerProps>) => container(withProps(props), name).task.Properties;
      expect(size({})).toMatchObject({ Cpu: '256', Memory: '512', RuntimePlatform: { CpuArchitecture: 'ARM64' } });
      expect(size({ cpu: 512, memoryLimitMiB: 3072, cpuArchitecture })).toMatchObject({
        Cpu: '512',
        Memory: '3072',
        RuntimePlatform: { CpuArchitecture: 'X86_64' },
      });
    }
  });

  it('image', () => {
    expect(container(consumerStack().stack, 'worker').definition.Image).toBe('example.test/chargeonce@sha256:0');
    expect(container(consumerStack().stack, 'migrate').definition.Image).toBe('example.test/chargeonce@sha256:0');
    expect(container(consumerStack().stack, 'ops').definition.Image).toBe('example.test/chargeonce@sha256:0');
  });

  it('are never stalled by their logs', () => {
    const { stack } = consumerStack();
    for (const name of ['worker', 'migrate', 'ops'] as const) {
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
    const { stack } = consumerStack((props) => ({
      ...props,
      vpcSubnets: { subnets: [props.vpc!.privateSubnets[1]!] },
    }));
    const { Subnets } = only(stack, 'AWS::ECS::Service').Properties.NetworkConfiguration.AwsvpcConfiguration;
    expect(Subnets).toEqual([ref('VpcPrivateSubnet2')]);
  });

  it('waits for its permissions, for its way out and for its way to the ledger', () => {
    const { DependsOn } = only(consumerStack().stack, 'AWS::ECS::Service');
    for (const start of [
      'ConsumerTaskTaskRoleDefaultPolicy',
      'ConsumerTaskExecutionRoleDefaultPolicy',
      'VpcPrivateSubnet1DefaultRoute',
      'VpcPrivateSubnet2DefaultRoute',
      'LedgerSecurityGroupfrom',
    ]) {
      expect(DependsOn).toContainEqual(expect.stringMatching(new RegExp(`^${start}`)));
    }
  });

  it('opens no shell into a task', () => {
    expect(only(consumerStack().stack, 'AWS::ECS::Service').Properties.EnableExecuteCommand).toBe(false);
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
      SourceSecurityGroupId: att('ConsumerSecurityGroup', 'GroupId'),
    });
  });
});

describe('metrics', () => {
  const { consumer } = consumerStack();

  it.each([
    ['metricUnknownOutcomes', 'UnknownOutcomes', 'Sum'],
    ['metricDeadLetters', 'DeadLetters', 'Sum'],
    ['metricConflicts', 'Conflicts', 'Sum'],
    ['metricLeasesLost', 'LeasesLost', 'Sum'],
    ['metricHalted', 'Halted', 'Maximum'],
    ['metricMillisBehindLatest', 'MillisBehindLatest', 'Maximum'],
  ] as const)('%s is what its workers write', (method, metricName, statistic) => {
    expect(consumer[method]()).toMatchObject({
      namespace: 'chargeonce',
      metricName,
      statistic,
      dimensions: { Service: consumer.metricsService },
    });
    expect(consumer[method]({ label: 'mine', period: Duration.minutes(5) })).toMatchObject({
      label: 'mine',
      period: Duration.minutes(5),
    });
  });

  it('any other by its name', () => {
    expect(consumer.metric('chargesDeclined')).toMatchObject({ metricName: 'ChargesDeclined' });
  });
});

describe('a nested stack', () => {
  it('is a place for it, with its data in the stack around', () => {
    const around = newStack('Around');
    const data = { stream: new BillingStream(around, 'Data'), leaseTable: new LeaseTable(around, 'Table') };
    const inner = new NestedStack(around, 'Inner');
    const { consumer } = consumerStack((props) => ({ ...props, ...data }), inner);
    expect(consumer.metricsService).toMatch(/^Around-Inner-Consumer-/);
    expect(container(inner, 'worker').environment.STREAM_NAME).toEqual(ref('referencetoAroundData'));
  });
});
