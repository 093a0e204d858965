import { Names, Stack } from 'aws-cdk-lib';
import type * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as ecs from 'aws-cdk-lib/aws-ecs';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as logs from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { runTaskCommand } from './run-task-command';

/** Where tasks of the consumer run, and as what. */
export interface TaskSetting {
  readonly cpu: number;
  readonly memoryLimitMiB: number;
  readonly cpuArchitecture: ecs.CpuArchitecture;
  readonly cluster: ecs.ICluster;
  readonly subnets: ec2.SelectedSubnets;
  readonly securityGroup: ec2.ISecurityGroup;
  readonly logGroup: logs.ILogGroup;
}

/** A task definition whose family differs between deployed copies of the same app, as its ARN appears in grants. */
export function taskDefinition(scope: Construct, id: string, setting: TaskSetting): ecs.FargateTaskDefinition {
  return new ecs.FargateTaskDefinition(scope, id, {
    family: Names.uniqueResourceName(scope, { maxLength: 200, separator: '-', allowedSpecialCharacters: '-_' }),
    cpu: setting.cpu,
    memoryLimitMiB: setting.memoryLimitMiB,
    runtimePlatform: {
      cpuArchitecture: setting.cpuArchitecture,
      operatingSystemFamily: ecs.OperatingSystemFamily.LINUX,
    },
  });
}

/** A task of the consumer's image that a person or a pipeline starts: next to the ledger, with a role of its own. */
export class ManualTask extends Construct {
  /** What `command` starts. */
  readonly taskDefinition: ecs.FargateTaskDefinition;
  /** What it may do. */
  readonly taskRole: iam.IRole;
  /** What ECS may do to start it. */
  readonly executionRole: iam.IRole;
  /** One line for a shell with the AWS CLI 2: starts the task and follows its output. */
  readonly command: string;
  readonly #setting: TaskSetting;

  /**
   * @param container its one container: name, image, command, settings and secrets
   * @param args what `command` asks of chargeonce
   */
  constructor(
    scope: Construct,
    id: string,
    setting: TaskSetting,
    container: ecs.ContainerDefinitionOptions & { readonly containerName: string },
    args: readonly string[],
  ) {
    super(scope, id);
    this.#setting = setting;
    this.taskDefinition = taskDefinition(this, 'Task', setting);
    this.taskDefinition.addContainer('Container', container);
    this.taskRole = this.taskDefinition.taskRole;
    this.executionRole = this.taskDefinition.obtainExecutionRole();
    this.command = runTaskCommand({
      region: Stack.of(this).region,
      cluster: setting.cluster.clusterName,
      family: this.taskDefinition.family,
      subnetIds: setting.subnets.subnetIds,
      securityGroupId: setting.securityGroup.securityGroupId,
      container: container.containerName,
      args,
      logGroup: setting.logGroup.logGroupName,
      streamPrefix: container.containerName,
    });
  }

  /** Lets somebody run `command`: this task in this cluster, under its own roles, and read what it says. */
  grantRun(grantee: iam.IGrantable): iam.Grant {
    const stack = Stack.of(this);
    const { cluster, logGroup } = this.#setting;
    const inCluster = { ArnEquals: { 'ecs:cluster': cluster.clusterArn } };
    const allow = (actions: string[], resourceArns: string[], conditions?: Record<string, Record<string, unknown>>) =>
      iam.Grant.addToPrincipal({ grantee, actions, resourceArns, ...(conditions ? { conditions } : {}) });
    const arn = (resource: string, resourceName: string) => stack.formatArn({ service: 'ecs', resource, resourceName });
    return allow(['ecs:RunTask'], [arn('task-definition', `${this.taskDefinition.family}:*`)], inCluster)
      .combine(allow(['ecs:DescribeTasks'], [arn('task', `${cluster.clusterName}/*`)], inCluster))
      .combine(
        allow(['iam:PassRole'], [this.taskRole.roleArn, this.executionRole.roleArn], {
          StringEquals: { 'iam:PassedToService': 'ecs-tasks.amazonaws.com' },
        }),
      )
      .combine(allow(['logs:FilterLogEvents', 'logs:GetLogEvents'], [logGroup.logGroupArn]));
  }
}
