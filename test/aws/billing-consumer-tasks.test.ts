/** Tasks that people start: the ops task, and the migration by hand; and the lines they are told to type. */
import type { Stack } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as ecs from 'aws-cdk-lib/aws-ecs';
import { describe, expect, it } from 'vitest';
import { Migrations, SpendCap } from '../../constructs/aws';
import { callsOfAws, deployed, option } from './shell';
import { att, consumerStack, container, newStack, only, ref, resources } from './stack';

const manual = (change: Parameters<typeof consumerStack>[0] = (props) => props) =>
  consumerStack((props, stack) => change({ ...props, migrations: Migrations.MANUAL }, stack));

/** The calls that somebody makes who pastes the line after the deploy. */
const typed = (stack: Stack, command: string | undefined) => callsOfAws(deployed(stack.resolve(command)));

describe('the ops task', () => {
  it('knows the ledger, Stripe and the cap, and neither the stream nor the lease table', () => {
    const { stack } = consumerStack((props) => ({ ...props, spendCap: SpendCap.perPeriod({ usd: 7 }) }));
    const { environment, secrets } = container(stack, 'ops');
    expect(environment).toEqual({
      PGHOST: att('Ledger', 'Endpoint.Address'),
      PGPORT: att('Ledger', 'Endpoint.Port'),
      PGDATABASE: 'chargeonce',
      PGSSLMODE: 'verify-full',
      DATABASE_AUTH: 'rds-iam',
      PGUSER: 'chargeonce_worker',
      AWS_REGION: { Ref: 'AWS::Region' },
      SPEND_CAP_MODE: 'ledger',
      SPEND_CAP_DEFAULT: 'usd:7',
      STRIPE_MODE: 'test',
      STRIPE_MAX_RPS: '5',
    });
    expect(Object.keys(secrets)).toEqual(['STRIPE_API_KEY']);
  });

  it('asks for help when nothing else is said, without root or a writable disk', () => {
    expect(container(consumerStack().stack, 'ops').definition).toMatchObject({
      Command: ['--help'],
      Essential: true,
      User: '1000:1000',
      ReadonlyRootFilesystem: true,
    });
  });

  it('has a family that another copy of the stack has not', () => {
    const family = (stackName: string) => {
      const { stack } = consumerStack(undefined, newStack('Same', { stackName }));
      return container(stack, 'ops').task.Properties.Family as string;
    };
    expect(family('one')).toMatch(/^one-Consumer-Ops-[0-9A-F]{8}$/);
    expect(family('two')).toMatch(/^two-Consumer-Ops-[0-9A-F]{8}$/);
  });
});

describe('the line that starts it', () => {
  const { stack, consumer } = consumerStack();
  const [start = [], read = [], ...more] = typed(stack, consumer.opsTask.command);

  it('is one line for a shell: run the task, then follow what it says', () => {
    expect(consumer.opsTask.command).not.toContain('\n');
    expect(start.slice(0, 2)).toEqual(['ecs', 'run-task']);
    expect(read.slice(0, 2)).toEqual(['logs', 'tail']);
    expect(more).toEqual([]);
  });

  it('names the cluster, the family, the region, and the network in which the ledger is reached', () => {
    const { task } = container(stack, 'ops');
    const [cluster] = Object.keys(resources(stack, 'AWS::ECS::Cluster'));
    const service = only(stack, 'AWS::ECS::Service').Properties.NetworkConfiguration.AwsvpcConfiguration;
    expect(option(start, '--region')).toBe('eu-west-1');
    expect(option(start, '--cluster')).toBe(`id-of-${cluster}`);
    expect(option(start, '--task-definition')).toBe(task.Properties.Family);
    expect(option(start, '--launch-type')).toBe('FARGATE');
    expect(option(start, '--network-configuration')).toBe(
      `awsvpcConfiguration={subnets=[${service.Subnets.map(deployed).join(',')}],` +
        `securityGroups=[${service.SecurityGroups.map(deployed).join(',')}],assignPublicIp=DISABLED}`,
    );
  });

  it('says the verb in one place', () => {
    expect(JSON.parse(option(start, '--overrides'))).toEqual({
      containerOverrides: [{ name: 'ops', command: ['--help'] }],
    });
  });

  it('reads the very log that the task writes', () => {
    const { 'awslogs-group': group, 'awslogs-stream-prefix': prefix } = (
      container(stack, 'ops').definition.LogConfiguration as { Options: Record<string, unknown> }
    ).Options;
    expect(read).toEqual(
      ['logs', 'tail', deployed(group), '--region', 'eu-west-1'].concat([
        '--log-stream-name-prefix',
        `${prefix as string}/`,
        '--since',
        '1m',
        '--follow',
      ]),
    );
  });

  it('does not read a log when the task could not be started', () => {
    const line = deployed(stack.resolve(consumer.opsTask.command));
    expect(() => callsOfAws(`false ${line.slice('aws'.length)}`)).toThrow('Command failed');
    expect(() => callsOfAws(`true ${line.slice('aws'.length)}`)).not.toThrow();
  });
});

describe('migrations: by hand', () => {
  it('leaves the worker’s task without a migration, and makes a task of its own for it', () => {
    const { stack } = manual();
    const [worker, migrate] = [container(stack, 'worker'), container(stack, 'migrate')];
    expect(worker.task.Properties.ContainerDefinitions).toHaveLength(1);
    expect(worker.definition).not.toHaveProperty('DependsOn');
    expect(migrate.id).not.toBe(worker.id);
    expect(migrate.definition).toMatchObject({
      Command: ['migrate', '--apply', '--worker-role', 'chargeonce_worker', '--worker-auth', 'rds-iam'],
      Essential: true,
    });
    expect(Object.keys(migrate.environment).sort()).toEqual(['PGDATABASE', 'PGHOST', 'PGPORT', 'PGSSLMODE']);
    expect(Object.keys(migrate.secrets)).toEqual(['PGUSER', 'PGPASSWORD']);
  });

  it('has a line that runs it, which workers log when the schema is too old', () => {
    const { stack, consumer } = manual();
    const [start = []] = typed(stack, consumer.migrateCommand);
    const { task, definition } = container(stack, 'migrate');
    expect(option(start, '--task-definition')).toBe(task.Properties.Family);
    expect(JSON.parse(option(start, '--overrides'))).toEqual({
      containerOverrides: [{ name: 'migrate', command: definition.Command }],
    });
    for (const name of ['worker', 'ops'] as const) {
      expect(container(stack, name).environment.MIGRATE_COMMAND).toEqual(stack.resolve(consumer.migrateCommand));
    }
  });

  it('is there before the first worker asks for it', () => {
    const { DependsOn } = only(manual().stack, 'AWS::ECS::Service');
    expect(DependsOn).toContainEqual(expect.stringMatching(/^ConsumerMigrateTask[0-9A-F]{8}$/));
    expect(DependsOn).toContainEqual(expect.stringMatching(/^ConsumerMigrateTaskExecutionRoleDefaultPolicy/));
  });

  it('is not what happens when nothing is said', () => {
    const { stack, consumer } = consumerStack();
    expect([consumer.migrateTask, consumer.migrateCommand]).toEqual([undefined, undefined]);
    expect(container(stack, 'worker').environment).not.toHaveProperty('MIGRATE_COMMAND');
    expect(container(stack, 'migrate').id).toBe(container(stack, 'worker').id);
  });
});

describe('all tasks', () => {
  it('share one security group, the only one that the ledger lets in', () => {
    const { stack } = manual();
    const ingress = Object.values(resources(stack, 'AWS::EC2::SecurityGroupIngress'));
    expect(ingress.map((each) => each.Properties.SourceSecurityGroupId)).toEqual([
      att('ConsumerSecurityGroup', 'GroupId'),
    ]);
  });

  it('run in the subnets and the cluster that were given', () => {
    const subnetIds = ['subnet-a', 'subnet-b'];
    const { stack, consumer } = manual(({ vpc: _, ...props }, scope) => {
      const vpc = ec2.Vpc.fromVpcAttributes(scope, 'Theirs', {
        vpcId: 'vpc-1',
        availabilityZones: ['a', 'b'],
        privateSubnetIds: subnetIds,
      });
      const cluster = ecs.Cluster.fromClusterAttributes(scope, 'Shared', { clusterName: 'shared', vpc });
      return { ...props, cluster };
    });
    for (const command of [consumer.opsTask.command, consumer.migrateCommand]) {
      const [start = []] = typed(stack, command);
      expect(option(start, '--cluster')).toBe('shared');
      expect(option(start, '--network-configuration')).toContain('subnets=[subnet-a,subnet-b]');
    }
    expect(only(stack, 'AWS::ECS::Service').Properties).toMatchObject({
      Cluster: 'shared',
      NetworkConfiguration: { AwsvpcConfiguration: { Subnets: subnetIds } },
    });
    expect(resources(stack, 'AWS::ECS::Cluster')).toEqual({});
  });

  it('write to one log group', () => {
    const { stack } = manual();
    for (const name of ['worker', 'migrate', 'ops'] as const) {
      const { Options } = container(stack, name).definition.LogConfiguration as { Options: Record<string, unknown> };
      expect(Options['awslogs-group']).toEqual(ref('ConsumerLogs'));
    }
  });
});
