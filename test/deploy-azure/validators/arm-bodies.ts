/**
 * Bodies against the serializers in Microsoft's own clients, made from the specification of the REST API: durations,
 * limits, required properties, closed enums. They pass over names they do not know, and any value of an open enum.
 */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createSerializer } from '@azure/core-client';
import type { Props } from '../grpc';
import { type AzureType, nameProperties } from '../provider/azure-type';

type Mappers = Parameters<typeof createSerializer>[0] & object;

const load = createRequire(__filename);
const MODULES = join(__dirname, '../../../node_modules');
/** Where the clients of either generation keep them. */
const PLACES = ['dist/commonjs/models/mappers.js', 'dist-esm/src/models/mappers.js'];

export class ArmBodies {
  private readonly clients = new Map<string, Mappers>();

  /** What is wrong with the body of a resource of which every value is known. */
  problems(type: AzureType, props: Readonly<Props>): readonly string[] {
    if (type.body === undefined) return [];
    const { client, mapper } = type.body;
    const mappers = this.mappersOf(client);
    const known = mappers[mapper];
    if (known === undefined) throw new Error(`${client} has no serializer ${mapper}.`);
    try {
      createSerializer(mappers, false).serialize(known, bodyOf(type, props), mapper);
      return [];
    } catch (error) {
      return [error instanceof Error ? error.message : String(error)];
    }
  }

  private mappersOf(client: string): Mappers {
    const known = this.clients.get(client);
    if (known !== undefined) return known;
    const file = PLACES.map((place) => join(MODULES, client, place)).find((each) => existsSync(each));
    if (file === undefined) throw new Error(`${client} has no serializers at ${PLACES.join(' or ')}.`);
    const mappers = load(file) as Mappers;
    this.clients.set(client, mappers);
    return mappers;
  }
}

/** The provider takes names and body as one bag, and as a list the identities that are the keys of a map in the body. */
function bodyOf(type: AzureType, props: Readonly<Props>): Props {
  const names = nameProperties(type);
  const body = Object.fromEntries(Object.entries(props).filter(([name]) => !names.includes(name)));
  const identity = body.identity as Props | undefined;
  const assigned = identity?.userAssignedIdentities;
  if (!Array.isArray(assigned)) return body;
  return {
    ...body,
    identity: { ...identity, userAssignedIdentities: Object.fromEntries(assigned.map((id) => [String(id), {}])) },
  };
}
