/** What the stand-in knows of one type of resource. */
import type { Props } from '../grpc';
import type { Cloud } from './cloud';
import type { Rule } from './rules';

export interface AzureType {
  /** As in ids: `Microsoft.EventHub/namespaces/eventhubs`. */
  readonly arm: string;
  /** The property with the name of each level, outermost first; a level that Azure names itself is `fixed`. */
  readonly names: readonly (string | { readonly fixed: string })[];
  /** The property with the id of what it extends, when it does. */
  readonly extends?: string;
  /** It lies in a region, its resource group's when none is said. */
  readonly regional?: boolean;
  /** Properties of which the real provider replaces it, beside its names and its resource group. */
  readonly replacedOn?: readonly string[];
  /** Properties that the real provider tries to update, and Azure does not change. */
  readonly createOnly?: readonly string[];
  /** Properties that Azure takes and never gives back, as `a.b[].c`. */
  readonly writeOnly?: readonly string[];
  /** Azure made it with its parent: creating it again is an update. */
  readonly existsAlready?: boolean;
  /** The serializer of Microsoft's client that knows its body. */
  readonly body?: { readonly client: string; readonly mapper: string };
  /** Rules beyond the schema, of which a preview can know. */
  readonly rules?: readonly Rule[];
  /** What Azure adds to what it was given. */
  outputs?(props: Readonly<Props>, id: string): Props;
  /** Why Azure does not create or update it, which no preview can know. */
  refusal?(props: Readonly<Props>, cloud: Cloud): string | undefined;
}

/** By token without an API version: `azure-native:eventhub:Namespace`. */
export type AzureTypes = Readonly<Record<string, AzureType>>;

/** The properties that name a resource, so that they are not part of its body. */
export function nameProperties(type: AzureType): string[] {
  const own = type.names.filter((name) => typeof name === 'string');
  return [...own, 'resourceGroupName', ...(type.extends === undefined ? [] : [type.extends])];
}
