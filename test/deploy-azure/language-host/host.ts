/**
 * A language host of Node for the engine (`pulumirpc.LanguageRuntime`): starts a program, or a policy pack, with the
 * runner of `@pulumi/pulumi`. The host that comes with Pulumi's releases is not among its Go modules.
 *
 * The engine attaches to it (PULUMI_DEBUG_LANGUAGES), so one host serves all commands, one after another.
 */
import { LanguageRuntimeService } from '@pulumi/pulumi/proto/language_grpc_pb';
import {
  AboutResponse,
  GetProgramDependenciesResponse,
  GetRequiredPackagesResponse,
  type LanguageHandshakeRequest,
  LanguageHandshakeResponse,
  type RunRequest,
} from '@pulumi/pulumi/proto/language_pb';
import { PluginInfo } from '@pulumi/pulumi/proto/plugin_pb';
import { Empty } from 'google-protobuf/google/protobuf/empty_pb';
import { answer, type PluginServer, serve } from '../grpc';
import { Children } from './children';
import { runPlugin } from './run-plugin';
import { runProgram } from './run-program';

export interface LanguageHost extends PluginServer {
  /** What programs and policy packs have written since the last call. */
  takeOutput(): string;
}

/** @param environment What programs see beside their configuration. */
export async function startLanguageHost(environment: NodeJS.ProcessEnv): Promise<LanguageHost> {
  const children = new Children(environment);
  let engine = '';
  const server = await serve(LanguageRuntimeService, {
    handshake: answer((request: LanguageHandshakeRequest) => {
      engine = request.getEngineAddress();
      return new LanguageHandshakeResponse();
    }),
    getPluginInfo: answer(() => new PluginInfo().setVersion('1.0.0')),
    // None by name: the resources of a program say which provider they want, at which version.
    getRequiredPackages: answer(() => new GetRequiredPackagesResponse()),
    getProgramDependencies: answer(() => new GetProgramDependenciesResponse()),
    about: answer(() => new AboutResponse().setExecutable(process.execPath).setVersion(process.version)),
    run: answer((request: RunRequest) => runProgram(request, engine, children)),
    runPlugin: runPlugin(children),
    cancel: answer(() => {
      children.stop('SIGINT');
      return new Empty();
    }),
  });
  return {
    port: server.port,
    takeOutput: () => children.takeOutput(),
    stop() {
      children.stop('SIGKILL');
      server.stop();
    },
  };
}
