/**
 * What the Pulumi program declares: run in a process of its own, with mocks in place of the engine, since Pulumi's runtime
 * is one for each process. What Azure would answer (addresses, client ids) is made up here, by the rules of its names.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { writeSync } from 'node:fs';
import { resolve } from 'node:path';
import * as pulumi from '@pulumi/pulumi';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

/** One resource of the program. */
export interface Declared {
  /** `azure-native:<module>:<Type>`, or a component's token. */
  readonly type: string;
  /** Its name in the program. */
  readonly name: string;
  readonly inputs: JsonObject;
  /** What the resource answers: its inputs, and what Azure adds. */
  readonly outputs: JsonObject;
}

/** The program cannot be run here; the message says what is missing or not understood. */
export class ProgramError extends Error {
  override readonly name = 'ProgramError';
}

/** The program of the run. */
export const PROGRAM = resolve(__dirname, '../../../azure/index.ts');

/** Runs the program; rejects in its own words when it fails. */
export async function declaredBy(program: string = PROGRAM): Promise<Declared[]> {
  const child = spawn(process.execPath, ['--import', 'tsx', __filename, resolve(program)], {
    env: { PATH: process.env.PATH ?? '' },
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  });
  const [errors, declared] = await Promise.all([textOf(child.stderr), textOf(child.stdio[3] as NodeJS.ReadableStream)]);
  const code = child.exitCode ?? (await new Promise<number | null>((ended) => child.once('exit', ended)));
  if (code === 0) return JSON.parse(declared) as Declared[];
  throw new ProgramError(`The program ${program} failed:\n${errors.trim()}`);
}

async function textOf(stream: NodeJS.ReadableStream | null): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream ?? []) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}

/** In the child: every resource that the program makes, once all of them are made. */
async function runProgram(program: string): Promise<Declared[]> {
  const declared: Declared[] = [];
  await pulumi.runtime.setMocks(
    {
      newResource({ type, name, inputs }) {
        const outputs = { ...inputs, ...answered(type, name, inputs) };
        declared.push({ type, name, inputs, outputs });
        return { id: outputs.id, state: outputs };
      },
      call: ({ inputs }) => ({ ...inputs, tenantId: guid('tenant'), subscriptionId: guid('subscription') }),
    },
    'chargeonce',
    'local',
    false,
  );
  await pulumi.runtime.runInPulumiStack(async () => require(program) as Record<string, unknown>);
  await pulumi.runtime.disconnect();
  return declared;
}

/** The property that holds a resource's own name; absent: its name in the program stands for it. */
const OWN_NAME: Readonly<Record<string, string>> = {
  Namespace: 'namespaceName',
  EventHub: 'eventHubName',
  ConsumerGroup: 'consumerGroupName',
  StorageAccount: 'accountName',
  BlobContainer: 'containerName',
  UserAssignedIdentity: 'resourceName',
  Server: 'serverName',
  Database: 'databaseName',
  ContainerApp: 'containerAppName',
};

/** What Azure adds to a resource, as far as the program asks for it. */
function answered(type: string, logicalName: string, inputs: JsonObject): { id: string; [key: string]: Json } {
  const [, module = '', kind = ''] = type.split(':');
  const name = String(inputs[OWN_NAME[kind] ?? ''] ?? logicalName);
  const group = `/subscriptions/${guid('subscription')}/resourceGroups/${inputs.resourceGroupName}`;
  return { id: `${group}/providers/${module}/${kind}/${name}`, name, ...added(kind, name) };
}

function added(kind: string, name: string): JsonObject {
  switch (kind) {
    case 'Namespace':
      return { serviceBusEndpoint: `https://${name}.servicebus.windows.net:443/` };
    case 'StorageAccount':
      return { primaryEndpoints: { blob: `https://${name}.blob.core.windows.net/` } };
    case 'Server':
      return { fullyQualifiedDomainName: `${name}.postgres.database.azure.com` };
    case 'UserAssignedIdentity':
      return { clientId: guid(`client ${name}`), principalId: guid(`principal ${name}`) };
    default:
      return {};
  }
}

/** The same for the same text. */
function guid(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  );
}

if (require.main === module) {
  runProgram(process.argv[2] ?? PROGRAM).then(
    (declared) => writeSync(3, JSON.stringify(declared)),
    (error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
      process.exitCode = 1;
    },
  );
}
