import { credentials } from '@grpc/grpc-js';
import { CallbacksClient } from '@pulumi/pulumi/proto/callback_grpc_pb';
import { type Callback, CallbackInvokeRequest } from '@pulumi/pulumi/proto/callback_pb';
import { ResourceHookRequest, ResourceHookResponse } from '@pulumi/pulumi/proto/resource_pb';
import { type JavaScriptValue, Struct } from 'google-protobuf/google/protobuf/struct_pb';
import type { Values } from './mock-azure';

/** One step that the engine is about to take. */
export interface Step {
  readonly name: string;
  readonly type: string;
  readonly urn: string;
  /** Absent: it is created. */
  readonly from?: Values;
  readonly to: Values;
}

/** Resource hooks as the engine has them: registered by name, called back in the program before a step. */
export class MockHooks {
  private readonly callbacks = new Map<string, Callback>();

  register(name: string, callback: Callback): void {
    if (this.callbacks.has(name)) throw new Error(`The program registers two hooks of the name ${name}.`);
    this.callbacks.set(name, callback);
  }

  /** @throws what the hook refuses the step with, as the engine would say it */
  async call(name: string, step: Step): Promise<void> {
    const callback = this.callbacks.get(name);
    if (callback === undefined) throw new Error(`A resource has the hook ${name}, which the program did not register.`);
    const request = new ResourceHookRequest()
      .setName(step.name)
      .setType(step.type)
      .setUrn(step.urn)
      .setNewInputs(toStruct(step.to))
      .setOldInputs(step.from && toStruct(step.from));
    const client = new CallbacksClient(callback.getTarget(), credentials.createInsecure());
    try {
      const error = await invoke(client, callback.getToken(), request.serializeBinary());
      if (error !== '') throw new Error(`before hook "${name}" failed: ${error}`);
    } finally {
      client.close();
    }
  }
}

function toStruct(values: Values): Struct {
  return Struct.fromJavaScript(values as Record<string, JavaScriptValue>);
}

function invoke(client: CallbacksClient, token: string, bytes: Uint8Array): Promise<string> {
  const request = new CallbackInvokeRequest().setToken(token).setRequest(bytes);
  return new Promise((resolve, reject) => {
    client.invoke(request, (error, response) => {
      if (error !== null) reject(error);
      else resolve(ResourceHookResponse.deserializeBinary(response.getResponse_asU8()).getError());
    });
  });
}
