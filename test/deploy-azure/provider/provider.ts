/**
 * A stand-in for the provider `azure-native` and the Azure behind it (`pulumirpc.ResourceProvider`): it checks what is
 * declared against the SDK's typings, the serializers of Microsoft's clients and Azure's own rules, and keeps what is
 * created in a file. It opens no connection. The real provider is not among Pulumi's Go modules.
 */
import { PluginInfo } from '@pulumi/pulumi/proto/plugin_pb';
import { ResourceProviderService } from '@pulumi/pulumi/proto/provider_grpc_pb';
import {
  type CheckRequest,
  CheckResponse,
  ConfigureResponse,
  type CreateRequest,
  type DeleteRequest,
  DiffResponse,
  ProviderHandshakeResponse,
  type ReadRequest,
  ReadResponse,
  type UpdateRequest,
} from '@pulumi/pulumi/proto/provider_pb';
import { Empty } from 'google-protobuf/google/protobuf/empty_pb';
import { answer, type PluginServer, serve, toProps, toStruct } from '../grpc';
import { ArmBodies } from '../validators/arm-bodies';
import { Typings } from '../validators/typings';
import { create, update } from './change';
import { check } from './check';
import type { Cloud } from './cloud';
import { diff } from './diff';
import { invoke } from './invoke';

/** Serves until it is stopped; the engine attaches to it (PULUMI_DEBUG_PROVIDERS). */
export function startAzureProvider(cloud: Cloud): Promise<PluginServer> {
  const [typings, bodies] = [new Typings(), new ArmBodies()];
  return serve(ResourceProviderService, {
    handshake: answer(() => new ProviderHandshakeResponse()),
    attach: answer(() => new Empty()),
    getPluginInfo: answer(() => new PluginInfo().setVersion(typings.version)),
    checkConfig: answer((request: CheckRequest) => new CheckResponse().setInputs(request.getNews())),
    diffConfig: answer(() => new DiffResponse().setChanges(DiffResponse.DiffChanges.DIFF_NONE)),
    // It takes no secrets: the engine keeps what was secret as it was, and shows the provider the values alone.
    configure: answer(() => new ConfigureResponse().setAcceptsecrets(false).setSupportspreview(true)),
    check: answer((request: CheckRequest) => check(request, cloud, typings)),
    diff: answer(diff),
    create: answer((request: CreateRequest) => create(request, cloud, bodies)),
    read: answer((request: ReadRequest) => read(request, cloud)),
    update: answer((request: UpdateRequest) => update(request, cloud, bodies)),
    delete: answer((request: DeleteRequest) => {
      cloud.delete(request.getId());
      return new Empty();
    }),
    invoke: answer(invoke),
    cancel: answer(() => new Empty()),
  });
}

/** Nothing when it is gone. What was given stays as given unless the file says otherwise. */
function read(request: ReadRequest, cloud: Cloud): ReadResponse {
  const found = cloud.get(request.getId());
  if (found === undefined) return new ReadResponse();
  const given = toProps(request.getInputs());
  const inputs = { ...found.inputs };
  for (const [name, value] of Object.entries(given)) {
    if (JSON.stringify(found.inputs[name])?.includes('written only (')) inputs[name] = value;
  }
  return new ReadResponse().setId(request.getId()).setProperties(toStruct(found.outputs)).setInputs(toStruct(inputs));
}
