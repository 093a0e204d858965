/** Reads from a program's resources what the local run needs: nothing is assumed that the program says. */
import { type RoleName, roleDefinitionId } from '../../../../constructs/azure/shared/roles';
import { type Declared, type Json, type JsonObject, ProgramError } from './declared';

export interface Identity {
  readonly clientId: string;
  readonly principalId: string;
  readonly name: string;
}

export interface ContainerPlan {
  readonly name: string;
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Names of the app's secrets by the variable that is given them. */
  readonly secrets: Readonly<Record<string, string>>;
}

export interface ProgramPlan {
  readonly resources: number;
  /** Fully qualified. */
  readonly namespace: string;
  readonly hub: { readonly name: string; readonly partitionCount: number; readonly retentionHours: number };
  readonly consumerGroup: string;
  readonly container: { readonly name: string; readonly url: string };
  readonly database: { readonly host: string; readonly name: string };
  readonly identities: readonly Identity[];
  /** May do everything in the ledger: those that the program makes administrators of the server. */
  readonly administrators: readonly { readonly name: string; readonly principalId: string }[];
  /** Principal ids that may read the hub, and that may write checkpoints. */
  readonly receivers: ReadonlySet<string>;
  readonly checkpointers: ReadonlySet<string>;
  /** The app's secrets: the addresses in a key vault that they are taken from. */
  readonly keyVaultUrls: Readonly<Record<string, string>>;
  /** Runs before the worker and must succeed. */
  readonly migrate: ContainerPlan;
  readonly worker: ContainerPlan;
}

/** @throws ProgramError when a resource is missing, when there are several, or when it lacks what the run needs */
export function readProgram(declared: readonly Declared[]): ProgramPlan {
  const hub = one(declared, 'eventhub:EventHub');
  const group = one(declared, 'eventhub:ConsumerGroup');
  const container = one(declared, 'storage:BlobContainer');
  const account = one(declared, 'storage:StorageAccount');
  const app = one(declared, 'app:ContainerApp');
  const template = object(app, 'template');
  const retention = object(hub, 'retentionDescription');
  const name = text(container, 'containerName');
  return {
    resources: declared.filter(({ type }) => type.startsWith('azure-native:')).length,
    namespace: new URL(text(one(declared, 'eventhub:Namespace'), 'serviceBusEndpoint')).hostname,
    hub: {
      name: text(hub, 'eventHubName'),
      partitionCount: number(hub, hub.outputs, 'partitionCount'),
      retentionHours: number(hub, retention, 'retentionTimeInHours'),
    },
    consumerGroup: text(group, 'consumerGroupName'),
    container: { name, url: `${String(object(account, 'primaryEndpoints').blob)}${name}` },
    database: {
      host: text(one(declared, 'dbforpostgresql:Server'), 'fullyQualifiedDomainName'),
      name: text(one(declared, 'dbforpostgresql:Database'), 'databaseName'),
    },
    identities: all(declared, 'managedidentity:UserAssignedIdentity').map(({ outputs }) => ({
      clientId: String(outputs.clientId),
      principalId: String(outputs.principalId),
      name: String(outputs.name),
    })),
    administrators: all(declared, 'dbforpostgresql:AdministratorsMicrosoftEntra').map((each) => ({
      name: text(each, 'principalName'),
      principalId: text(each, 'objectId'),
    })),
    receivers: holdersOf(declared, 'Azure Event Hubs Data Receiver', hub),
    checkpointers: holdersOf(declared, 'Storage Blob Data Contributor', container),
    keyVaultUrls: keyVaultUrls(object(app, 'configuration').secrets),
    migrate: containerIn(app, template.initContainers, 'init container: who migrates?'),
    worker: containerIn(app, template.containers, 'container'),
  };
}

function all(declared: readonly Declared[], type: string): Declared[] {
  return declared.filter((each) => each.type === `azure-native:${type}`);
}

function one(declared: readonly Declared[], type: string): Declared {
  const found = all(declared, type);
  const [first] = found;
  if (first && found.length === 1) return first;
  throw new ProgramError(
    `The program declares ${found.length} resources of type azure-native:${type}; the local run needs one.`,
  );
}

function text({ name, outputs }: Declared, key: string): string {
  const value = outputs[key];
  if (typeof value === 'string' && value !== '') return value;
  throw new ProgramError(`The resource ${name} has the ${key} ${JSON.stringify(value)}; the local run needs a text.`);
}

function number({ name }: Declared, within: JsonObject, key: string): number {
  const value = within[key];
  if (typeof value === 'number') return value;
  throw new ProgramError(`The resource ${name} has the ${key} ${JSON.stringify(value)}; the local run needs a number.`);
}

function object({ name, outputs }: Declared, key: string): JsonObject {
  const value = outputs[key];
  if (isObject(value)) return value;
  throw new ProgramError(`The resource ${name} has no ${key}.`);
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function items(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** The one container of the list. */
function containerIn(app: Declared, list: Json | undefined, what: string): ContainerPlan {
  const found = items(list);
  const [first] = found;
  if (!first || found.length > 1) {
    throw new ProgramError(`The app ${app.name} has ${found.length} of what the local run needs one of: ${what}`);
  }
  const variables = items(first.env);
  const pairs = (key: 'value' | 'secretRef') =>
    Object.fromEntries(variables.filter((each) => key in each).map((each) => [String(each.name), String(each[key])]));
  return {
    name: String(first.name),
    command: ((first.args ?? []) as readonly Json[]).map(String),
    environment: pairs('value'),
    secrets: pairs('secretRef'),
  };
}

function keyVaultUrls(secrets: Json | undefined): Record<string, string> {
  const known = items(secrets).filter((secret) => typeof secret.keyVaultUrl === 'string');
  return Object.fromEntries(known.map((secret) => [String(secret.name), String(secret.keyVaultUrl)]));
}

/** Who has the role on this resource or on what it is a part of, by the program's own role assignments. */
function holdersOf(declared: readonly Declared[], role: RoleName, { outputs: { id } }: Declared): Set<string> {
  const definition = roleDefinitionId(role).toLowerCase();
  const covers = (scope: Json | undefined) => scope === id || String(id).startsWith(`${String(scope)}/`);
  return new Set(
    all(declared, 'authorization:RoleAssignment')
      .filter(({ outputs }) => String(outputs.roleDefinitionId).toLowerCase().endsWith(definition))
      .filter(({ outputs }) => covers(outputs.scope))
      .map(({ outputs }) => String(outputs.principalId)),
  );
}
