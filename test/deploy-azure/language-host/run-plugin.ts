/** A policy pack's run: the engine reads the port of its analyzer from what it writes. */
import type { ServerWritableStream } from '@grpc/grpc-js';
import { type RunPluginRequest, RunPluginResponse } from '@pulumi/pulumi/proto/language_pb';
import { type Children, optionsOf, sdkScript } from './children';

type Call = ServerWritableStream<RunPluginRequest, RunPluginResponse>;

export function runPlugin(children: Children): (call: Call) => void {
  return (call) => {
    start(call, children).then(
      (code) => {
        call.write(new RunPluginResponse().setExitcode(code));
        call.end();
      },
      (error: unknown) => call.destroy(error instanceof Error ? error : new Error(String(error))),
    );
  };
}

async function start(call: Call, children: Children): Promise<number> {
  const { request } = call;
  if (request.getKind() !== 'analyzer')
    throw new Error(`This host runs policy packs, not a plugin of kind ${request.getKind()}.`);
  const info = request.getInfo();
  const directory = info?.getProgramDirectory() ?? request.getPwd();
  const options = optionsOf(info);
  const environment = Object.fromEntries(request.getEnvList().map(nameAndValue));
  const args = [sdkScript(directory, 'run-policy-pack'), ...options.nodeargs, ...request.getArgsList(), directory];
  const env = { ...environment, ...options.environment };
  const { child, ended } = children.start(args, directory, env, (stream, chunk) => {
    const response = new RunPluginResponse();
    call.write(stream === 'stdout' ? response.setStdout(chunk) : response.setStderr(chunk));
  });
  // The engine cancels the call when it needs the pack no more.
  call.on('cancelled', () => child.kill('SIGTERM'));
  return (await ended).code ?? 1;
}

function nameAndValue(entry: string): [string, string] {
  const at = entry.indexOf('=');
  return [entry.slice(0, at), entry.slice(at + 1)];
}
