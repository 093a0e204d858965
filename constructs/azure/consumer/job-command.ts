/** Command lines of the Azure CLI that start a job once. */
import * as pulumi from '@pulumi/pulumi';

export interface JobToStart {
  /** Resource id of the job, which names its subscription. */
  readonly id: pulumi.Input<string>;
  readonly resourceGroupName: pulumi.Input<string>;
  readonly name: string;
}

/**
 * Starts the job as it is declared, and prints the name of the execution.
 */
export function startCommand(job: JobToStart): pulumi.Output<string> {
  return pulumi.interpolate`az containerapp job start ${whereabouts(job)} --query name --output tsv`;
}

/**
 * Starts the job with other arguments of chargeonce, and prints the name of the execution.
 *
 * What is sent to start a job replaces its whole template: older Azure CLIs send nothing of `--args` alone, and with
 * `--image` beside it the execution loses every setting of the container. The CLI also takes a word that begins with `--`
 * for an option of its own. So the line reads the job's template, puts the arguments in and sends all of it.
 */
export function startWithCommand(job: JobToStart, args: readonly string[]): pulumi.Output<string> {
  const words = args.map((word) => `'${word}'`).join(', ');
  const container =
    'properties.template.containers[0]' +
    `.{name: name, image: image, env: env, resources: {cpu: resources.cpu, memory: resources.memory}, args: [${words}]}`;
  const show = pulumi.interpolate`az containerapp job show ${whereabouts(job)} --query "{containers: [${container}]}" --output json`;
  const start = pulumi.interpolate`az containerapp job start ${whereabouts(job)} --yaml /dev/stdin --query name --output tsv`;
  return pulumi.interpolate`${show} | ${start}`;
}

/** Shows what the newest execution of the job says, until you press Ctrl-C. */
export function logsCommand(job: JobToStart, container: string): pulumi.Output<string> {
  return pulumi.interpolate`az containerapp job logs show ${whereabouts(job)} --container ${container} --tail 300 --follow true`;
}

function whereabouts(job: JobToStart): pulumi.Output<string> {
  const subscription = pulumi.output(job.id).apply((id) => /^\/subscriptions\/([^/]+)\//.exec(id)?.[1]);
  return pulumi
    .all([subscription, job.resourceGroupName] as const)
    .apply(([id, group]) =>
      [
        ...(id === undefined ? [] : [`--subscription ${id}`]),
        `--resource-group ${quoted(group)}`,
        `--name ${job.name}`,
      ].join(' '),
    );
}

/** Resource groups may have parentheses, which mean something to a shell. */
function quoted(group: string): string {
  return /[()]/.test(group) ? `'${group}'` : group;
}
