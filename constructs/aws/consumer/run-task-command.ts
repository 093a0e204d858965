/** Command lines of the AWS CLI that start a task once and show what it says. */

/** What `aws ecs run-task` has to be told. Values may be tokens: the line is valid once they are resolved. */
export interface RunTask {
  readonly region: string;
  readonly cluster: string;
  readonly family: string;
  readonly subnetIds: readonly string[];
  readonly securityGroupId: string;
  readonly container: string;
  /** Arguments of chargeonce. */
  readonly args: readonly string[];
  readonly logGroup: string;
  /** Prefix of the container's log streams. */
  readonly streamPrefix: string;
}

/**
 * One line for a POSIX shell: starts the task, and follows its output until you press Ctrl-C. Without a revision, so
 * that a line in a runbook stays right: ECS then takes the newest one.
 */
export function runTaskCommand(task: RunTask): string {
  const network = [
    `subnets=[${task.subnetIds.join(',')}]`,
    `securityGroups=[${task.securityGroupId}]`,
    'assignPublicIp=DISABLED',
  ].join(',');
  const overrides = JSON.stringify({ containerOverrides: [{ name: task.container, command: task.args }] });
  const start = [
    'aws ecs run-task',
    `--region ${task.region}`,
    `--cluster ${task.cluster}`,
    `--task-definition ${task.family}`,
    '--launch-type FARGATE',
    `--network-configuration ${quoted(`awsvpcConfiguration={${network}}`)}`,
    `--overrides ${quoted(overrides)}`,
    `--query ${quoted('{task: tasks[0].taskArn, failures: failures}')}`,
  ].join(' ');
  const read = [
    'aws logs tail',
    quoted(task.logGroup),
    `--region ${task.region}`,
    `--log-stream-name-prefix ${task.streamPrefix}/`,
    '--since 1m --follow',
  ].join(' ');
  return `${start} && ${read}`;
}

/** One word of a shell, whatever is in it. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
