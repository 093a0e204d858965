/** The functions of azure-native that programs call. */
import { status } from '@grpc/grpc-js';
import { type InvokeRequest, InvokeResponse } from '@pulumi/pulumi/proto/provider_pb';
import { type Props, RpcError, toProps, toStruct } from '../grpc';
import { SUBSCRIPTION } from './cloud';
import { guid, TENANT } from './ids';

const FUNCTIONS: Readonly<Record<string, (args: Readonly<Props>) => Props>> = {
  'azure-native:authorization:getClientConfig': () => ({
    clientId: guid('client'),
    objectId: guid('object'),
    subscriptionId: SUBSCRIPTION,
    tenantId: TENANT,
  }),
};

export function invoke(request: InvokeRequest): InvokeResponse {
  const token = request.getTok();
  const answer = FUNCTIONS[token];
  if (answer === undefined)
    throw new RpcError(`The stand-in for Azure does not answer ${token}.`, status.UNIMPLEMENTED);
  return new InvokeResponse().setReturn(toStruct(answer(toProps(request.getArgs()))));
}
