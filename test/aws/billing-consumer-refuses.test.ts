/** What is refused at synth, in words that say what was given, what may be given, and what to do. */
import { Stack, Token } from 'aws-cdk-lib';
import { Annotations, Match, Template } from 'aws-cdk-lib/assertions';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as ecs from 'aws-cdk-lib/aws-ecs';
import { Stream, StreamMode } from 'aws-cdk-lib/aws-kinesis';
import * as kms from 'aws-cdk-lib/aws-kms';
import * as secrets from 'aws-cdk-lib/aws-secretsmanager';
import { describe, expect, it } from 'vitest';
import {
  type BillingConsumerProps,
  BillingStream,
  type ILedgerDatabase,
  LeaseTable,
  LedgerDatabase,
  Migrations,
} from '../../constructs/aws';
import { consumerStack, container, newApp, newStack, statements } from './stack';

type Change = (props: BillingConsumerProps, stack: Stack) => BillingConsumerProps;

const token = () => Token.asNumber({ Ref: 'Count' });
const provisioned = (scope: Stack) =>
  new BillingStream(scope, 'Small', { streamMode: StreamMode.PROVISIONED, shardCount: 2 });
const clusterIn = (stack: Stack, vpc: ec2.IVpc) => new ecs.Cluster(stack, 'Shared', { vpc }) as ecs.ICluster;
const imported = (stack: Stack, subnets: Partial<ec2.VpcAttributes>) =>
  ec2.Vpc.fromVpcAttributes(stack, 'Theirs', { vpcId: 'vpc-1', availabilityZones: ['a'], ...subnets });
const SECRET = 'arn:aws:secretsmanager:eu-west-1:111122223333:secret:billing/stripe-rk';
const ISOLATED = 'Isolated subnets have no way to Stripe. Leave it out for PRIVATE_WITH_EGRESS.';
const PUBLIC = 'In public subnets only tasks with public addresses have a way to Stripe, and these never get one.';

describe('the network', () => {
  const vpcWithIsolated = (stack: Stack) =>
    new ec2.Vpc(stack, 'All', {
      maxAzs: 1,
      subnetConfiguration: [
        { name: 'Out', subnetType: ec2.SubnetType.PUBLIC },
        { name: 'In', subnetType: ec2.SubnetType.PRIVATE_WITH_EGRESS },
        { name: 'Hidden', subnetType: ec2.SubnetType.PRIVATE_ISOLATED },
      ],
    }) as ec2.IVpc;
  const isolated = 'Billing/All/HiddenSubnet1';

  it.each<[string, Change, string]>([
    ['neither cluster nor vpc', ({ vpc: _, ...props }) => props, 'cluster, vpc is neither given; allowed: exactly one'],
    [
      'both cluster and vpc',
      (props, stack) => ({ ...props, cluster: clusterIn(stack, props.vpc!) }),
      'cluster, vpc is both given; allowed: exactly one of the two. Give the cluster to run in, or the vpc',
    ],
    [
      'isolated subnets by type',
      (props) => ({ ...props, vpcSubnets: { subnetType: ec2.SubnetType.PRIVATE_ISOLATED } }),
      `vpcSubnets is PRIVATE_ISOLATED; allowed: private subnets with egress. ${ISOLATED}`,
    ],
    [
      'public subnets by type',
      (props) => ({ ...props, vpcSubnets: { subnetType: ec2.SubnetType.PUBLIC } }),
      `vpcSubnets is PUBLIC; allowed: private subnets with egress. ${PUBLIC}`,
    ],
    [
      'isolated subnets by the name of their group',
      (props, stack) => ({ ...props, vpc: vpcWithIsolated(stack), vpcSubnets: { subnetGroupName: 'Hidden' } }),
      `vpcSubnets is a selection of isolated subnets: ${isolated}; allowed: private subnets with egress. ${ISOLATED}`,
    ],
    [
      'isolated subnets in a list with good ones',
      (props, stack) => {
        const vpc = vpcWithIsolated(stack);
        return { ...props, vpc, vpcSubnets: { subnets: [...vpc.privateSubnets, ...vpc.isolatedSubnets] } };
      },
      `vpcSubnets is a selection of isolated subnets: ${isolated}; allowed`,
    ],
    [
      'isolated subnets by a filter',
      (props, stack) => {
        const vpc = vpcWithIsolated(stack);
        const subnetFilters = [ec2.SubnetFilter.byIds(vpc.isolatedSubnets.map((each) => each.subnetId))];
        return { ...props, vpc, vpcSubnets: { subnetType: ec2.SubnetType.PRIVATE_WITH_EGRESS, subnetFilters } };
      },
      'vpcSubnets is a selection of no subnets; allowed: private subnets with egress.',
    ],
    [
      'isolated subnets of an imported VPC, imported once more',
      (props, stack) => ({
        ...props,
        vpc: imported(stack, { isolatedSubnetIds: ['subnet-hidden'] }),
        vpcSubnets: { subnets: [ec2.Subnet.fromSubnetId(stack, 'Again', 'subnet-hidden')] },
      }),
      `vpcSubnets is a selection of isolated subnets: Billing/Again; allowed: private subnets with egress. ${ISOLATED}`,
    ],
    [
      'an imported VPC with nothing but isolated and public subnets',
      (props, stack) => ({
        ...props,
        vpc: imported(stack, { isolatedSubnetIds: ['subnet-i'], publicSubnetIds: ['subnet-p'] }),
      }),
      'vpcSubnets is PRIVATE_WITH_EGRESS, and of the VPC’s subnets 1 are isolated, 1 public; allowed: private subnets with egress.',
    ],
    [
      'subnets with egress in a VPC that has none',
      (props, stack) => ({
        ...props,
        vpc: imported(stack, { isolatedSubnetIds: ['subnet-i'] }),
        vpcSubnets: { subnetType: ec2.SubnetType.PRIVATE_WITH_EGRESS },
      }),
      'vpcSubnets is PRIVATE_WITH_EGRESS, and of the VPC’s subnets 1 are isolated, 0 public; allowed: private',
    ],
    [
      'a cluster in such a VPC',
      ({ vpc: _, ...props }, stack) => ({
        ...props,
        cluster: clusterIn(stack, imported(stack, { isolatedSubnetIds: ['subnet-i'] })),
      }),
      'vpcSubnets is PRIVATE_WITH_EGRESS, and of the VPC’s subnets 1 are isolated, 0 public; allowed: private subnets with egress.',
    ],
  ])('%s', (_, change, message) => {
    expect(() => consumerStack(change)).toThrow(`[Billing/Consumer] ${message}`);
  });

  it('takes an imported subnet whose kind nobody knows', () => {
    const { stack } = consumerStack((props, scope) => ({
      ...props,
      vpc: imported(scope, { isolatedSubnetIds: ['subnet-hidden'] }),
      vpcSubnets: { subnets: [ec2.Subnet.fromSubnetId(scope, 'Mine', 'subnet-with-a-transit-gateway')] },
    }));
    expect(JSON.stringify(Template.fromStack(stack))).toContain('subnet-with-a-transit-gateway');
  });
});

describe('numbers', () => {
  it.each<[string, Change, string]>([
    [
      'more tasks than shards',
      (props, stack) => ({ ...props, stream: provisioned(stack), desiredCount: 3 }),
      'desiredCount is 3; allowed: at most 2, the shards. A shard is read by one task at a time',
    ],
    [
      'half a task',
      (props) => ({ ...props, desiredCount: 1.5 }),
      'desiredCount is 1.5; allowed: a whole number from 0',
    ],
    ['less than no task', (props) => ({ ...props, desiredCount: -1 }), 'desiredCount is -1; allowed: a whole number'],
    [
      'a count that is not known',
      (props) => ({ ...props, desiredCount: token() }),
      'desiredCount is a token; allowed: a number known at synth. Each task’s share of Stripe’s rate',
    ],
    ['no rate', (props) => ({ ...props, stripeMaxRps: 0 }), 'stripeMaxRps is 0; allowed: a number from 0.04'],
    [
      'a rate that is not known',
      (props) => ({ ...props, stripeMaxRps: token() }),
      'stripeMaxRps is a token; allowed: a number known at synth. Each task’s share is worked out from it.',
    ],
    ['a processor that is not', (props) => ({ ...props, cpu: 300 }), 'cpu is 300; allowed: 256, 512, 1024, 2048, 4096'],
    [
      'memory that does not go with it',
      (props) => ({ ...props, memoryLimitMiB: 4096 }),
      'memoryLimitMiB is 4096; allowed: with cpu 256: 512, 1024, 2048. Fargate has no other sizes.',
    ],
    [
      'a processor without the memory for it',
      (props) => ({ ...props, cpu: 1024 }),
      'memoryLimitMiB is 512; allowed: with cpu 1024: 2048, 3072, 4096 … 8192.',
    ],
  ])('%s', (_, change, message) => {
    expect(() => consumerStack(change)).toThrow(`[Billing/Consumer] ${message}`);
  });

  it('takes a size that is only known at deploy', () => {
    const { stack } = consumerStack((props) => ({ ...props, cpu: token(), memoryLimitMiB: token() }));
    expect(container(stack, 'worker').task.Properties.Cpu).toEqual({ Ref: 'Count' });
  });

  it('takes no task at all, as before the first migration by hand', () => {
    expect(() => consumerStack((props) => ({ ...props, desiredCount: 0 }))).not.toThrow();
  });
});

describe('parts that are elsewhere', () => {
  const here = { env: { account: '111122223333', region: 'eu-west-1' } };
  const streamIn = (stack: Stack, region: string) =>
    BillingStream.fromStream(
      stack,
      'It',
      Stream.fromStreamArn(stack, 'Far', `arn:aws:kinesis:${region}:111122223333:stream/usage`),
    );
  const tableIn = (stack: Stack, where: string) =>
    LeaseTable.fromTable(
      stack,
      'Their',
      dynamodb.TableV2.fromTableArn(stack, 'Far', `arn:aws:dynamodb:${where}:table/leases`),
    );

  it.each<[string, Change, string]>([
    [
      'a stream of another region',
      (props, stack) => ({ ...props, stream: streamIn(stack, 'us-east-1') }),
      'stream is in the region us-east-1; allowed: the region of the consumer, eu-west-1. Give this stack the env of',
    ],
    [
      'a table of another region',
      (props, stack) => ({ ...props, leaseTable: tableIn(stack, 'us-east-1:111122223333') }),
      'leaseTable is in the region us-east-1; allowed: the region of the consumer, eu-west-1.',
    ],
    [
      'a table of another account',
      (props, stack) => ({ ...props, leaseTable: tableIn(stack, 'eu-west-1:999999999999') }),
      'leaseTable is in the account 999999999999; allowed: the account of the consumer, 111122223333.',
    ],
    [
      'a secret of another account, by name',
      (props, stack) => ({
        ...props,
        stripeKey: secrets.Secret.fromSecretPartialArn(stack, 'Far', SECRET.replace('111122223333', '999999999999')),
      }),
      'stripeKey is a secret of the account 999999999999, known without the six characters at the end of its ARN; allowed:',
    ],
    [
      'a secret of another region, by name',
      (props, stack) => ({
        ...props,
        stripeKey: secrets.Secret.fromSecretPartialArn(stack, 'Far', SECRET.replace('eu-west-1', 'us-east-1')),
      }),
      'stripeKey is a secret of the region us-east-1, known without the six characters at the end of its ARN; allowed:',
    ],
  ])('%s', (_, change, message) => {
    expect(() => consumerStack(change, newStack('Billing', here))).toThrow(`[Billing/Consumer] ${message}`);
  });

  it('takes a secret of another region by its whole ARN, or of this one by its name', () => {
    const far = SECRET.replace('eu-west-1', 'us-east-1');
    for (const change of [
      (stack: Stack) => secrets.Secret.fromSecretCompleteArn(stack, 'Far', `${far}-abcdef`),
      (stack: Stack) => secrets.Secret.fromSecretPartialArn(stack, 'Near', SECRET),
    ]) {
      const consumer = () =>
        consumerStack((props, stack) => ({ ...props, stripeKey: change(stack) }), newStack('Billing', here));
      expect(consumer).not.toThrow();
    }
  });

  it('says nothing where it is not certain', () => {
    expect(() => consumerStack((props, stack) => ({ ...props, stream: streamIn(stack, 'us-east-1') }))).not.toThrow();
  });
});

describe('a secret with a key of its own in another stack', () => {
  /** Data and compute in two stacks, the key wherever it is said. */
  const twoStacks = (props: (data: Stack, compute: Stack) => Partial<BillingConsumerProps>) => {
    const app = newApp();
    const [data, compute] = [new Stack(app, 'Data'), new Stack(app, 'Billing')];
    return consumerStack((given) => ({ ...given, ...props(data, compute) }), compute);
  };
  const ownSecret = (stack: Stack) =>
    new secrets.Secret(stack, 'Secret', { encryptionKey: new kms.Key(stack, 'Key') }) as secrets.ISecret;

  it('would be a cycle that the CDK describes in ids that nobody typed', () => {
    const app = newApp();
    const [data, compute] = [new Stack(app, 'Data'), new Stack(app, 'Compute')];
    const secret = ownSecret(data);
    const task = new ecs.FargateTaskDefinition(compute, 'Task');
    const its = ecs.Secret.fromSecretsManager(secret);
    task.addContainer('It', { image: ecs.ContainerImage.fromRegistry('it'), secrets: { IT: its } });
    expect(() => app.synth()).toThrow('would create a cyclic reference');
  });

  it('stripeKey', () => {
    expect(() => twoStacks((data) => ({ stripeKey: ownSecret(data) }))).toThrow(
      '[Billing/Consumer] stripeKey is a secret with a key of its own, Data/Key, which the stack Data makes; allowed: a key ' +
        'that Billing makes, an imported key, or no key of its own. The key’s policy would name a role of Billing',
    );
  });

  it('stripeKey, imported as the message says', () => {
    const { stack } = twoStacks((data, compute) => {
      const secret = ownSecret(data);
      return {
        stripeKey: secrets.Secret.fromSecretAttributes(compute, 'StripeKeyHere', {
          secretCompleteArn: secret.secretArn,
          encryptionKey: kms.Key.fromKeyArn(compute, 'KeyHere', secret.encryptionKey!.keyArn),
        }),
      };
    });
    expect(JSON.stringify(statements(stack, 'ConsumerTaskExecutionRole'))).toMatch(/kms:Decrypt.*Data:ExportsOutput/);
  });

  it('the owner’s secret of a ledger that somebody else wrote', () => {
    const withSecret = (ledger: ILedgerDatabase, secret: secrets.ISecret): ILedgerDatabase =>
      Object.create(ledger, { ownerSecret: { value: secret } });
    expect(() =>
      twoStacks((data, compute) => {
        const vpc = new ec2.Vpc(compute, 'Net') as ec2.IVpc;
        return { vpc, ledger: withSecret(new LedgerDatabase(compute, 'Mine', { vpc }), ownSecret(data)) };
      }),
    ).toThrow('[Billing/Consumer] ledger is a secret with a key of its own, Data/Key, which the stack Data makes;');
  });

  it('a secret and its key in the consumer’s own stack are fine', () => {
    const { stack } = twoStacks((_, compute) => ({ stripeKey: ownSecret(compute) }));
    expect(() => Template.fromStack(stack)).not.toThrow();
  });

  it.each([Migrations.AT_START, Migrations.MANUAL])('the ledger may have one, with migrations %s', (migrations) => {
    const { stack } = twoStacks((data) => {
      const vpc = new ec2.Vpc(data, 'Vpc') as ec2.IVpc;
      const ledger = new LedgerDatabase(data, 'Ledger', { vpc, encryptionKey: new kms.Key(data, 'Key') });
      return { ledger, vpc, migrations };
    });
    const role = migrations === Migrations.MANUAL ? 'ConsumerMigrateTaskExecutionRole' : 'ConsumerTaskExecutionRole';
    expect(JSON.stringify(statements(stack, role))).toMatch(/kms:Decrypt.*Data:ExportsOutput/);
  });
});

describe('environment', () => {
  const withEnvironment = (environment: Record<string, string>, migrations = Migrations.AT_START) =>
    consumerStack((props) => ({ ...props, environment, migrations })).stack;

  it.each([
    ...Object.keys(container(consumerStack().stack, 'worker').environment),
    ...Object.keys(container(consumerStack().stack, 'worker').secrets),
    ...Object.keys(container(consumerStack().stack, 'migrate').secrets),
    'DATABASE_URL',
    'DATABASE_SECRET_ARN',
    'PGPASSWORD_FILE',
    'STREAM_ARN',
    'MIGRATE_COMMAND',
    'WORKER_ID',
    'CHARGEONCE_CRASH_AT',
    'SPEND_CAP_DEFAULT',
  ])('%s, which the construct owns', (name) => {
    expect(() => withEnvironment({ [name]: 'mine' })).toThrow(
      `[Billing/Consumer] environment is a map with ${name}; allowed: names the construct does not set itself. Leave ${name} out`,
    );
  });

  it.each([
    ['LOG_LEVLE', 'LOG_LEVEL'],
    ['log_level', 'LOG_LEVEL'],
    ['stripe_mode', 'STRIPE_MODE'],
  ])('%s is nobody’s: a warning asks for %s', (name, meant) => {
    const text = `environment has ${name}, which nothing reads. Did you mean ${meant}?`;
    const stack = withEnvironment({ [name]: 'debug' });
    Annotations.fromStack(stack).hasWarning('/Billing/Consumer', Match.stringLikeRegexp(text.replaceAll('?', '\\?')));
  });

  it.each<[string, string, unknown, string]>([
    ['a word that it does not know', 'LOG_LEVEL', 'verbose', 'is "verbose"; allowed: debug | info'],
    ['a number that is none', 'MAX_CONCURRENT_CHARGES', 'abc', 'is "abc"; allowed: charges, a whole number from 1'],
    ['a number that is no text', 'MAX_CONCURRENT_CHARGES', 5, "is the number 5; allowed: text. Write '5'."],
  ])('%s would stop the worker at its start: %s', (_, name, value, words) => {
    expect(() => withEnvironment({ [name]: value as string })).toThrow(
      `[Billing/Consumer] environment.${name} ${words}`,
    );
  });

  it.each(['NODE_OPTIONS', 'HTTPS_PROXY', 'PGTZ', 'LOG_LEVEL'])('%s is taken without a word', (name) => {
    const stack = withEnvironment({ [name]: 'debug' });
    expect(Annotations.fromStack(stack).findWarning('/Billing/Consumer', Match.anyValue())).toEqual([]);
  });
});

describe('a ledger in another network', () => {
  const warnings = (vpcOf: (stack: Stack) => ec2.IVpc) => {
    const { stack } = consumerStack((props, scope) => ({ ...props, vpc: vpcOf(scope) }));
    return Annotations.fromStack(stack).findWarning('/Billing/Consumer', Match.stringLikeRegexp('never meet'));
  };

  it('is warned of when it certainly is one', () => {
    expect(warnings((stack) => new ec2.Vpc(stack, 'Other') as ec2.IVpc)).toHaveLength(1);
  });

  it('is not spoken of when the network may be the same', () => {
    const unknown = (stack: Stack) =>
      imported(stack, { vpcId: Token.asString({ Ref: 'Vpc' }), privateSubnetIds: ['subnet-1'] });
    expect(warnings(unknown)).toEqual([]);
  });
});
