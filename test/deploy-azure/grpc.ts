/** What both plugins need of gRPC: a server on loopback, and functions in place of callbacks. */
import {
  type handleUnaryCall,
  Server,
  ServerCredentials,
  type ServiceDefinition,
  status,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { type JavaScriptValue, Struct } from 'google-protobuf/google/protobuf/struct_pb';

/** The engine sends a whole stack in one message. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

export interface PluginServer {
  readonly port: number;
  stop(): void;
}

/** An error that the engine shows as it is, with its gRPC code. */
export class RpcError extends Error {
  override readonly name = 'RpcError';

  constructor(
    message: string,
    readonly code: status = status.UNKNOWN,
  ) {
    super(message);
  }
}

/** A service on a free port of 127.0.0.1. Methods that are left out answer "unimplemented". */
export async function serve(
  definition: ServiceDefinition,
  implementation: UntypedServiceImplementation,
): Promise<PluginServer> {
  const server = new Server({
    'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
    'grpc.max_send_message_length': MAX_MESSAGE_BYTES,
  });
  server.addService(definition, implementation);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) => {
      if (error === null) resolve(bound);
      else reject(error);
    });
  });
  return { port, stop: () => server.forceShutdown() };
}

/** A method as a function that answers or throws. */
export function answer<Request, Response>(
  method: (request: Request) => Response | Promise<Response>,
): handleUnaryCall<Request, Response> {
  return (call, callback) => {
    Promise.resolve(call.request)
      .then(method)
      .then(
        (response) => callback(null, response),
        (error: unknown) => {
          const details = error instanceof Error ? error.message : String(error);
          callback({ code: error instanceof RpcError ? error.code : status.INTERNAL, details });
        },
      );
  };
}

/** Properties of a resource as they travel: plain JSON, with the engine's marks for unknown values. */
export type Props = { [name: string]: JavaScriptValue };

export function toProps(struct: Struct | undefined): Props {
  return (struct?.toJavaScript() ?? {}) as Props;
}

export function toStruct(props: Readonly<Props>): Struct {
  return Struct.fromJavaScript(props);
}
