/** Azure's ids, and identifiers that are the same for the same thing. */
import { createHash } from 'node:crypto';
import type { Props } from '../grpc';
import type { AzureType } from './azure-type';
import { SUBSCRIPTION } from './cloud';
import { text } from './values';

export const resourceGroupId = (name: string): string => `/subscriptions/${SUBSCRIPTION}/resourceGroups/${name}`;

export function armId(type: AzureType, props: Readonly<Props>): string {
  const names = type.names.map((name) => (typeof name === 'string' ? text(props[name]) : name.fixed));
  if (type.arm === 'Microsoft.Resources/resourceGroups') return resourceGroupId(text(props.resourceGroupName));
  const [namespace, ...kinds] = type.arm.split('/');
  const parent =
    type.extends === undefined ? resourceGroupId(text(props.resourceGroupName)) : text(props[type.extends]);
  return `${parent}/providers/${namespace}/${kinds.map((kind, index) => `${kind}/${names[index]}`).join('/')}`;
}

/** What must exist before: the resource group, the parent resource, or what is extended. */
export function parentId(type: AzureType, id: string): string {
  const levels = type.names.length;
  if (type.arm === 'Microsoft.Resources/resourceGroups') return `/subscriptions/${SUBSCRIPTION}`;
  if (levels === 1) return id.slice(0, id.lastIndexOf('/providers/'));
  return id.split('/').slice(0, -2).join('/');
}

/** Every id that a resource refers to, wherever it stands in it. */
export function references(value: unknown): string[] {
  if (typeof value === 'string') {
    const isResource = value.startsWith(`/subscriptions/${SUBSCRIPTION}/resourceGroups/`);
    return isResource && !value.includes('/roleDefinitions/') ? [value] : [];
  }
  if (Array.isArray(value)) return value.flatMap(references);
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(references) : [];
}

export function hex(seed: string | Uint8Array, length: number): string {
  return createHash('sha256').update(seed).digest('hex').slice(0, length);
}

export function guid(seed: string | Uint8Array): string {
  return hex(seed, 32).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

export const TENANT = guid('tenant');
