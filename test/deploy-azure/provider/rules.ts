/** Rules on one property each: values that the schema lets through and Azure refuses. */
import type { JavaScriptValue } from 'google-protobuf/google/protobuf/struct_pb';
import type { Props } from '../grpc';
import { text, UNKNOWN } from './values';

export interface Problem {
  /** Dotted, from the resource; empty for the resource as a whole. */
  readonly property: string;
  readonly reason: string;
}

export type Rule = (props: Readonly<Props>) => readonly Problem[];

/** The value at a dotted path, or undefined when it is absent or not known yet. */
export function at(props: Readonly<Props>, path: string): JavaScriptValue | undefined {
  let value: JavaScriptValue | undefined = props;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    value = (value as Props)[name];
  }
  return value === UNKNOWN || value === null ? undefined : value;
}

export function list(props: Readonly<Props>, path: string): readonly Props[] {
  const value = at(props, path);
  return Array.isArray(value) ? value.filter((each): each is Props => typeof each === 'object' && each !== null) : [];
}

const property =
  (path: string, valid: (value: JavaScriptValue) => boolean, must: string): Rule =>
  (props) => {
    const value = at(props, path);
    if (value === undefined || valid(value)) return [];
    return [{ property: path, reason: `${path} is ${text(value)}; it must be ${must}` }];
  };

export const matches = (path: string, pattern: RegExp, must: string): Rule =>
  property(path, (value) => typeof value === 'string' && pattern.test(value), must);

export const between = (path: string, least: number, most: number): Rule =>
  property(path, (value) => typeof value === 'number' && value >= least && value <= most, `${least} to ${most}`);

export const oneOf = (path: string, ...allowed: readonly JavaScriptValue[]): Rule =>
  property(path, (value) => allowed.includes(value), allowed.map(text).join(' or '));

export const required = (path: string, why: string): Rule => {
  return (props) => {
    const absent = path.split('.').reduce<JavaScriptValue | undefined>((value, name) => {
      return typeof value === 'object' && value !== null
        ? (value as Props)[name]
        : value === UNKNOWN
          ? value
          : undefined;
    }, props);
    return absent === undefined ? [{ property: path, reason: `${path} is missing: ${why}` }] : [];
  };
};

/** `valid` sees the whole resource; it answers what is wrong. */
export const together = (path: string, wrong: (props: Readonly<Props>) => string | undefined): Rule => {
  return (props) => {
    const reason = wrong(props);
    return reason === undefined ? [] : [{ property: path, reason }];
  };
};

export const GUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
export const isGuid = (path: string): Rule => matches(path, GUID, 'a GUID in lower case');
/** Types that are of no region: the provider would take the resource group's. */
export const isGlobal = oneOf('location', 'global', 'Global');
export const isDuration = (path: string): Rule =>
  matches(path, /^P(\d+D)?(T(\d+H)?(\d+M)?(\d+S)?)?$/, 'an ISO 8601 duration');
