/** Reads from a CloudFormation template what the local run needs: nothing is assumed that the template says. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
type JsonObject = { readonly [key: string]: Json };

export interface Resource {
  readonly Type: string;
  readonly Properties?: JsonObject;
}

export interface Template {
  readonly Resources: Readonly<Record<string, Resource>>;
}

export interface ContainerPlan {
  readonly name: string;
  readonly command: readonly string[];
  readonly environment: readonly { readonly Name: string; readonly Value: Json }[];
  readonly secrets: readonly { readonly Name: string; readonly ValueFrom: Json }[];
}

export interface StackPlan {
  readonly template: Template;
  readonly stream: {
    readonly id: string;
    readonly onDemand: boolean;
    readonly shardCount: number | undefined;
    readonly retentionHours: number;
  };
  readonly table: { readonly id: string; readonly properties: JsonObject };
  readonly database: {
    readonly id: string;
    readonly name: string;
    /** Its owner. */
    readonly user: string;
    /** Whether the server keeps the owner's password in a secret of its own making. */
    readonly managedPassword: boolean;
    /** Whether tokens log in. */
    readonly iamLogin: boolean;
  };
  readonly desiredCount: number;
  /** Runs before the worker and must succeed. */
  readonly migrate: ContainerPlan;
  readonly worker: ContainerPlan;
}

/** The template cannot be run here; the message says what is missing or not understood. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError';
}

export function readPlan(template: Template): StackPlan {
  const [streamId, stream] = one(template, 'AWS::Kinesis::Stream');
  const [tableId, table] = one(template, 'AWS::DynamoDB::GlobalTable');
  const [databaseId, database] = one(template, 'AWS::RDS::DBInstance');
  const [, service] = one(template, 'AWS::ECS::Service');
  const task = taskOf(service, template);
  const mode = (stream.StreamModeDetails as JsonObject | undefined)?.StreamMode;
  const containers = (task.ContainerDefinitions as readonly JsonObject[] | undefined) ?? [];
  const worker = containers.find((container) => container.Essential === true);
  if (!worker) throw new TemplateError('The task definition has no essential container.');
  const needed = (worker.DependsOn as readonly JsonObject[] | undefined) ?? [];
  const migrateName = needed.find((dependency) => dependency.Condition === 'SUCCESS')?.ContainerName;
  const migrate = containers.find((container) => container.Name === migrateName);
  if (!migrate) throw new TemplateError('The worker waits for the success of no other container: who migrates?');
  return {
    template,
    stream: {
      id: streamId,
      onDemand: mode === 'ON_DEMAND',
      shardCount: stream.ShardCount as number | undefined,
      retentionHours: (stream.RetentionPeriodHours as number | undefined) ?? 24,
    },
    table: { id: tableId, properties: table },
    database: {
      id: databaseId,
      name: String(database.DBName),
      user: String(database.MasterUsername),
      managedPassword: database.ManageMasterUserPassword === true,
      iamLogin: database.EnableIAMDatabaseAuthentication === true,
    },
    desiredCount: (service.DesiredCount as number | undefined) ?? 1,
    migrate: container(migrate),
    worker: container(worker),
  };
}

function one(template: Template, type: string): [string, JsonObject] {
  const found = Object.entries(template.Resources).filter(([, resource]) => resource.Type === type);
  const [first] = found;
  if (!first || found.length > 1) {
    throw new TemplateError(`The template has ${found.length} resources of type ${type}; the local run needs one.`);
  }
  return [first[0], first[1].Properties ?? {}];
}

/** What the service runs; other task definitions are for people. */
function taskOf(service: JsonObject, template: Template): JsonObject {
  const id = (service.TaskDefinition as JsonObject | undefined)?.Ref;
  const task = typeof id === 'string' ? template.Resources[id] : undefined;
  if (task?.Type !== 'AWS::ECS::TaskDefinition') {
    throw new TemplateError(`The service runs ${JSON.stringify(service.TaskDefinition)}, no task of this template.`);
  }
  return task.Properties ?? {};
}

function container(definition: JsonObject): ContainerPlan {
  return {
    name: String(definition.Name),
    command: (definition.Command as readonly string[] | undefined) ?? [],
    environment: (definition.Environment as ContainerPlan['environment'] | undefined) ?? [],
    secrets: (definition.Secrets as ContainerPlan['secrets'] | undefined) ?? [],
  };
}
