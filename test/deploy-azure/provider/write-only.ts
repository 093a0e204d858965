/** Properties that Azure takes and never gives back, such as the values of secrets. */
import type { JavaScriptValue } from 'google-protobuf/google/protobuf/struct_pb';
import type { Props } from '../grpc';
import type { AzureType } from './azure-type';
import { hex } from './ids';
import { text } from './values';

/** The properties with a mark in place of each such value: it differs when the value does. */
export function withoutSecrets(type: AzureType, props: Readonly<Props>): Props {
  return (type.writeOnly ?? []).reduce<Props>((kept, path) => mark(kept, path.split('.')) as Props, { ...props });
}

function mark(value: JavaScriptValue, [name, ...rest]: readonly string[]): JavaScriptValue {
  if (name === undefined) return `written only (${hex(text(value), 8)})`;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const object = value as Props;
  const key = name.replace(/\[\]$/, '');
  const inner = object[key];
  if (inner === undefined) return value;
  const marked = key !== name && Array.isArray(inner) ? inner.map((each) => mark(each, rest)) : mark(inner, rest);
  return { ...object, [key]: marked } as JavaScriptValue;
}
