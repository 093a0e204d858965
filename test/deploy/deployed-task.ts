/** A container of a deployed task definition as ECS would start it: command, settings, secrets, role. */
import { type ContainerDefinition, DescribeTaskDefinitionCommand, type TaskDefinition } from '@aws-sdk/client-ecs';
import { GetSecretValueCommand } from '@aws-sdk/client-secrets-manager';
import { type AwsClients, awsClients } from './clients';
import { assumeRole } from './identity';
import type { DeployedStack } from './read-back/deployed-stack';

export interface DeployedContainer {
  readonly name: string;
  readonly command: readonly string[];
  /** Settings, and secrets as the execution role reads them. */
  readonly environment: Readonly<Record<string, string>>;
  readonly taskRoleArn: string;
  readonly executionRoleArn: string;
}

/** Finds it by its name, in whichever task definition of the stack has it. */
export async function deployedContainer(
  aws: AwsClients,
  url: string,
  stack: DeployedStack,
  name: string,
): Promise<DeployedContainer> {
  for (const id of stack.ofType('AWS::ECS::TaskDefinition')) {
    const command = new DescribeTaskDefinitionCommand({ taskDefinition: stack.physicalIds[id] });
    const { taskDefinition } = await aws.ecs.send(command);
    const found = taskDefinition?.containerDefinitions?.find((container) => container.name === name);
    if (found) return started(aws, url, taskDefinition!, found);
  }
  throw new Error(`${stack.name} has no container ${name}`);
}

async function started(
  aws: AwsClients,
  url: string,
  { taskRoleArn, executionRoleArn }: TaskDefinition,
  { name, command = [], environment = [], secrets = [] }: ContainerDefinition,
): Promise<DeployedContainer> {
  const executor = awsClients(url, await assumeRole(aws, executionRoleArn!));
  const read = secrets.map(async (secret) => [secret.name!, await secretValue(executor, secret.valueFrom!)]);
  const settings = environment.map((each) => [each.name!, each.value!]);
  return {
    name: name!,
    command,
    environment: Object.fromEntries([...settings, ...(await Promise.all(read))]) as Record<string, string>,
    taskRoleArn: taskRoleArn!,
    executionRoleArn: executionRoleArn!,
  };
}

/** `arn:…:secret:<name>[:<field>:<stage>:<version>]`, as ECS reads it. */
async function secretValue({ secrets }: AwsClients, valueFrom: string): Promise<string> {
  const [, SecretId, field] = /^(arn:(?:[^:]*:){5}[^:]+)(?::([^:]*):[^:]*:[^:]*)?$/.exec(valueFrom) ?? [];
  const { SecretString } = await secrets.send(new GetSecretValueCommand({ SecretId }));
  return field ? (JSON.parse(SecretString!) as Record<string, string>)[field]! : SecretString!;
}
