/** Values as the engine sends them. */
import type { JavaScriptValue } from 'google-protobuf/google/protobuf/struct_pb';

/** What it sends for a value that is not known before the deployment. */
export const UNKNOWN = '04da6b54-80e4-46f7-96ec-b56ff0331ba9';

/** A value as text for messages and ids. */
export function text(value: JavaScriptValue | undefined): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing');
}
