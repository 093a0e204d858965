/** Creates and updates: what Azure refuses only then, and what it adds. */

import { isDeepStrictEqual } from 'node:util';
import { status } from '@grpc/grpc-js';
import {
  type CreateRequest,
  CreateResponse,
  type UpdateRequest,
  UpdateResponse,
} from '@pulumi/pulumi/proto/provider_pb';
import { type Props, RpcError, toProps, toStruct } from '../grpc';
import type { ArmBodies } from '../validators/arm-bodies';
import { type AzureType, nameProperties } from './azure-type';
import type { Cloud } from './cloud';
import { armId, parentId, references } from './ids';
import { AZURE_TYPES } from './types';
import { named } from './urn';
import { withoutSecrets } from './write-only';

export function create(request: CreateRequest, cloud: Cloud, bodies: ArmBodies): CreateResponse {
  const { token } = named(request.getUrn());
  const props = toProps(request.getProperties());
  if (request.getPreview()) return new CreateResponse().setProperties(toStruct(props));
  const type = typeOf(token);
  const id = armId(type, props);
  if (!type.existsAlready && cloud.exists(id)) {
    throw new RpcError(`A resource with the id ${id} exists already.`, status.ALREADY_EXISTS);
  }
  const parent = parentId(type, id);
  if (!exists(cloud, parent)) throw new RpcError(`ParentResourceNotFound: ${parent}`, status.NOT_FOUND);
  const outputs = put('create', { token, type, id, props }, cloud, bodies);
  return new CreateResponse().setId(id).setProperties(toStruct(outputs));
}

export function update(request: UpdateRequest, cloud: Cloud, bodies: ArmBodies): UpdateResponse {
  const { token } = named(request.getUrn());
  const [props, olds] = [toProps(request.getNews()), toProps(request.getOldInputs())];
  if (request.getPreview()) {
    return new UpdateResponse().setProperties(toStruct({ ...toProps(request.getOlds()), ...props }));
  }
  const type = typeOf(token);
  const id = request.getId();
  if (!cloud.exists(id)) throw new RpcError(`ResourceNotFound: ${id}`, status.NOT_FOUND);
  const refused = (type.createOnly ?? []).find((property) => !isDeepStrictEqual(props[property], olds[property]));
  if (refused !== undefined) throw new RpcError(`PropertyChangeNotAllowed: ${refused} of ${id} cannot be changed.`);
  return new UpdateResponse().setProperties(toStruct(put('update', { token, type, id, props }, cloud, bodies)));
}

interface Change {
  readonly token: string;
  readonly type: AzureType;
  readonly id: string;
  readonly props: Props;
}

function put(operation: 'create' | 'update', change: Change, cloud: Cloud, bodies: ArmBodies): Props {
  const { token, type, id, props } = change;
  const invalid = bodies.problems(type, props);
  if (invalid.length > 0)
    throw new RpcError(`InvalidRequestContent: ${type.arm}: ${invalid.join('; ')}`, status.INVALID_ARGUMENT);
  const dangling = references(props).find((each) => !exists(cloud, each));
  if (dangling !== undefined)
    throw new RpcError(`LinkedInvalidPropertyId: ${id} refers to ${dangling}, which does not exist.`);
  const refusal = type.refusal?.(props, cloud);
  if (refusal !== undefined) throw new RpcError(refusal, status.FAILED_PRECONDITION);
  const inputs = withoutSecrets(type, props);
  const last = nameProperties(type)[0];
  const name = typeof type.names.at(-1) === 'string' ? props[type.names.at(-1) as string] : props[last ?? ''];
  const outputs = { ...inputs, ...(name === undefined ? {} : { name }), type: type.arm, ...type.outputs?.(props, id) };
  cloud.put(operation, id, { token, inputs, outputs });
  return outputs;
}

function typeOf(token: string): AzureType {
  const type = AZURE_TYPES[token];
  if (type === undefined) throw new RpcError(`The stand-in for Azure does not know ${token}.`, status.UNIMPLEMENTED);
  return type;
}

/** A storage account has a blob service from the start. */
function exists(cloud: Cloud, id: string): boolean {
  const account = id.replace(/\/blobServices\/default$/, '');
  return cloud.exists(id) || (account !== id && cloud.exists(account));
}
