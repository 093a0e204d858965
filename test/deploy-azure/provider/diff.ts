/** Which properties differ, and whether the resource is updated or replaced for them. */
import { isDeepStrictEqual } from 'node:util';
import { type DiffRequest, DiffResponse, PropertyDiff } from '@pulumi/pulumi/proto/provider_pb';
import { type Props, toProps } from '../grpc';
import { nameProperties } from './azure-type';
import { AZURE_TYPES } from './types';
import { named } from './urn';

const { Kind } = PropertyDiff;
const { DiffChanges } = DiffResponse;

export function diff(request: DiffRequest): DiffResponse {
  const type = AZURE_TYPES[named(request.getUrn()).token];
  const olds = toProps(request.getOldInputs());
  const news = toProps(request.getNews());
  const names = type === undefined ? [] : nameProperties(type);
  const fixed = new Set([...names, ...(type?.replacedOn ?? [])]);
  const changed = [...new Set([...Object.keys(olds), ...Object.keys(news)])].filter(
    (property) => !isDeepStrictEqual(olds[property], news[property]),
  );
  const replaces = changed.filter((property) => fixed.has(property));
  const response = new DiffResponse()
    .setDiffsList(changed)
    .setReplacesList(replaces)
    .setChanges(changed.length > 0 ? DiffChanges.DIFF_SOME : DiffChanges.DIFF_NONE)
    .setHasdetaileddiff(true)
    // Two of the same name cannot be there at once.
    .setDeletebeforereplace(replaces.length > 0 && !changed.some((property) => names.includes(property)));
  for (const property of changed) {
    response
      .getDetaileddiffMap()
      .set(property, new PropertyDiff().setInputdiff(true).setKind(kindOf(property, olds, news, fixed)));
  }
  return response;
}

function kindOf(property: string, olds: Props, news: Props, fixed: ReadonlySet<string>): PropertyDiff.Kind {
  const replaces = fixed.has(property);
  if (!(property in olds)) return replaces ? Kind.ADD_REPLACE : Kind.ADD;
  if (!(property in news)) return replaces ? Kind.DELETE_REPLACE : Kind.DELETE;
  return replaces ? Kind.UPDATE_REPLACE : Kind.UPDATE;
}
