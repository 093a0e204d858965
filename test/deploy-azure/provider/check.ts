/** What a preview can know: unknown types, the schema, Azure's rules. Fills in what the real provider fills in. */
import { CheckFailure, type CheckRequest, CheckResponse } from '@pulumi/pulumi/proto/provider_pb';
import { type Props, toProps, toStruct } from '../grpc';
import type { Typings } from '../validators/typings';
import type { AzureType } from './azure-type';
import type { Cloud } from './cloud';
import { guid, hex } from './ids';
import type { Problem } from './rules';
import { AZURE_TYPES } from './types';
import { named } from './urn';

export function check(request: CheckRequest, cloud: Cloud, typings: Typings): CheckResponse {
  const { token, name } = named(request.getUrn());
  const type = AZURE_TYPES[token];
  const news = toProps(request.getNews());
  if (type === undefined) {
    const reason = `the stand-in for Azure does not know ${token}: add it to test/deploy-azure/provider/types`;
    return failed(news, [{ property: '', reason }]);
  }
  const inputs = {
    ...news,
    ...ownName(type, name, request.getRandomseed_asU8(), news, toProps(request.getOlds())),
    ...(type.regional && news.location === undefined ? { location: cloud.region } : {}),
  };
  const rules = (type.rules ?? []).flatMap((rule) => rule(inputs));
  return failed(inputs, [...typings.problems(token, inputs), ...rules]);
}

/** A name with chance in it when none is given, which stays the same as long as the resource lives. */
function ownName(type: AzureType, name: string, seed: Uint8Array, news: Props, olds: Props): Props {
  const property = type.names.at(-1);
  if (typeof property !== 'string' || news[property] !== undefined) return {};
  const random = seed.length > 0 ? seed : name;
  const fresh = type.arm === 'Microsoft.Authorization/roleAssignments' ? guid(random) : `${name}${hex(random, 8)}`;
  return { [property]: olds[property] ?? fresh };
}

function failed(inputs: Props, problems: readonly Problem[]): CheckResponse {
  const failures = problems.map(({ property, reason }) => new CheckFailure().setProperty(property).setReason(reason));
  return new CheckResponse().setInputs(toStruct(inputs)).setFailuresList(failures);
}
