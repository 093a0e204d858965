/** What it means to read a deployed resource back: the service's answer in the words of CloudFormation. */
import type { AwsClients } from '../clients';

export type Json = null | undefined | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

export interface DeployedResource {
  readonly type: string;
  readonly logicalId: string;
  readonly physicalId: string;
  /** What the template says, with its references resolved. */
  readonly properties: JsonObject;
}

/** What a service says of a resource. */
export interface Reading {
  /** By the names that the template uses. */
  readonly properties: JsonObject;
  /** What `Fn::GetAtt` answers. */
  readonly attributes?: Readonly<Record<string, string | undefined>>;
}

export interface Reader {
  /** Asks the service that owns the resource; never CloudFormation. */
  readonly read: (aws: AwsClients, resource: DeployedResource) => Promise<Reading>;
  /** Properties that the emulator takes and does not keep, each with the reason why that is bearable. */
  readonly notKept?: Readonly<Record<string, string>>;
}

/** The one thing that was asked for. */
export function only<T>(found: readonly T[] | undefined, what: string): T {
  const [first, ...rest] = found ?? [];
  if (first === undefined || rest.length > 0) throw new Error(`${found?.length ?? 0} of ${what}, not one`);
  return first;
}

/** A tag in either spelling of the services. */
type Tag =
  | { readonly Key?: string | undefined; readonly Value?: string | undefined }
  | { readonly key?: string | undefined; readonly value?: string | undefined };

/** Tags as a template has them, without those that AWS adds. */
export function tags(found: readonly Tag[] | undefined): Json {
  return (found ?? [])
    .map((tag) => ('key' in tag ? { Key: tag.key, Value: tag.value } : (tag as { Key?: string; Value?: string })))
    .map(({ Key = '', Value = '' }) => ({ Key, Value }))
    .filter(({ Key }) => !Key.startsWith('aws:'));
}

/** Names of a service that spells them in camelCase, in the template's spelling. Keys that are data stay. */
export function pascalCase(value: unknown, dataKeys: readonly string[] = []): Json {
  if (Array.isArray(value)) return value.map((each) => pascalCase(each, dataKeys));
  if (value === null || typeof value !== 'object') return value as Json;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => {
      const name = key.charAt(0).toUpperCase() + key.slice(1);
      return [name, dataKeys.includes(name) ? (each as Json) : pascalCase(each, dataKeys)];
    }),
  );
}
