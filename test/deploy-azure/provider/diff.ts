/** Which properties differ, and whether the resource is updated or replaced for them. */
import { isDeepStrictEqual } from 'node:util';
import { type DiffRequest, DiffResponse, PropertyDiff } from '@pulumi/pulumi/proto/provider_pb';
import type { JavaScriptValue } from 'google-protobuf/google/protobuf/struct_pb';
import { type Props, toProps } from '../grpc';
import { nameProperties } from './azure-type';
import { AZURE_TYPES } from './types';
import { named } from './urn';

const { Kind } = PropertyDiff;
const { DiffChanges } = DiffResponse;

const REPLACING: Readonly<Record<number, PropertyDiff.Kind>> = {
  [Kind.ADD]: Kind.ADD_REPLACE,
  [Kind.DELETE]: Kind.DELETE_REPLACE,
  [Kind.UPDATE]: Kind.UPDATE_REPLACE,
};

export function diff(request: DiffRequest): DiffResponse {
  const type = AZURE_TYPES[named(request.getUrn()).token];
  const names = type === undefined ? [] : nameProperties(type);
  const fixed = new Set([...names, ...(type?.replacedOn ?? [])]);
  const changes = changesOf(toProps(request.getOldInputs()), toProps(request.getNews()), '');
  const properties = [...new Set(changes.map(({ path }) => topOf(path)))];
  const replaces = properties.filter((property) => fixed.has(property));
  const response = new DiffResponse()
    .setDiffsList(properties)
    .setReplacesList(replaces)
    .setChanges(changes.length > 0 ? DiffChanges.DIFF_SOME : DiffChanges.DIFF_NONE)
    .setHasdetaileddiff(true)
    // Two of the same name cannot be there at once.
    .setDeletebeforereplace(replaces.length > 0 && !properties.some((property) => names.includes(property)));
  for (const { path, kind } of changes) {
    const found = new PropertyDiff()
      .setInputdiff(true)
      .setKind((fixed.has(topOf(path)) ? REPLACING[kind] : undefined) ?? kind);
    response.getDetaileddiffMap().set(path, found);
  }
  return response;
}

interface Difference {
  readonly path: string;
  readonly kind: PropertyDiff.Kind;
}

const topOf = (path: string): string => path.split(/[.[]/)[0] ?? path;

/** As deep as they go, since a component may name a property in an object: `network.delegatedSubnetResourceId`. */
function changesOf(old: JavaScriptValue | undefined, now: JavaScriptValue | undefined, path: string): Difference[] {
  if (isDeepStrictEqual(old, now)) return [];
  if (Array.isArray(old) && Array.isArray(now)) {
    const length = Math.max(old.length, now.length);
    return Array.from({ length }, (_, index) => changesOf(old[index], now[index], `${path}[${index}]`)).flat();
  }
  if (isObject(old) && isObject(now)) {
    const names = [...new Set([...Object.keys(old), ...Object.keys(now)])];
    return names.flatMap((name) => changesOf(old[name], now[name], path === '' ? name : `${path}.${name}`));
  }
  return [{ path, kind: old === undefined ? Kind.ADD : now === undefined ? Kind.DELETE : Kind.UPDATE }];
}

function isObject(value: JavaScriptValue | undefined): value is Props {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
