/** The parameters that each endpoint takes, and Stripe's refusals of all others. Nothing here executes anything. */
import { invalidRequest } from './errors';
import { emptyTree, type FormTree, type FormValue } from './form';

export type ParamSpec =
  | { readonly kind: 'text'; readonly max?: number; readonly unsettable?: boolean }
  | { readonly kind: 'integer' | 'flag' | 'map' }
  | { readonly kind: 'choice'; readonly of: readonly string[]; readonly unsettable?: boolean }
  | { readonly kind: 'list'; readonly of: ParamSpec }
  | { readonly kind: 'object'; readonly fields: ParamSpecs }
  | { readonly kind: 'either'; readonly of: readonly ParamSpec[] };

/** By name; a name that ends in `!` is required. */
export type ParamSpecs = Readonly<Record<string, ParamSpec>>;

export const text = (max = 5000): ParamSpec => ({ kind: 'text', max });
/** Text that an empty value unsets. */
export const clearable = (max = 5000): ParamSpec => ({ kind: 'text', max, unsettable: true });
export const integer: ParamSpec = { kind: 'integer' };
export const flag: ParamSpec = { kind: 'flag' };
export const metadata: ParamSpec = { kind: 'map' };
export const choice = (...of: string[]): ParamSpec => ({ kind: 'choice', of });
export const list = (of: ParamSpec): ParamSpec => ({ kind: 'list', of });
export const object = (fields: ParamSpecs): ParamSpec => ({ kind: 'object', fields });
export const either = (...of: ParamSpec[]): ParamSpec => ({ kind: 'either', of });

/** Throws the 400 for the first parameter that is unknown, missing or of the wrong shape. */
export function validateParams(tree: FormTree, specs: ParamSpecs): Params {
  checkFields(tree, specs, '');
  return new Params(tree);
}

function checkFields(tree: FormTree, specs: ParamSpecs, prefix: string): void {
  const nameOf = (name: string) => (prefix === '' ? name : `${prefix}[${name}]`);
  for (const [name, value] of Object.entries(tree)) {
    const spec = Object.hasOwn(specs, name)
      ? specs[name]
      : Object.hasOwn(specs, `${name}!`)
        ? specs[`${name}!`]
        : undefined;
    if (spec === undefined) {
      throw unknownParam(nameOf(name));
    }
    checkValue(value, spec, nameOf(name));
  }
  for (const name of Object.keys(specs).filter((spec) => spec.endsWith('!'))) {
    const plain = name.slice(0, -1);
    if (tree[plain] !== undefined) continue;
    throw invalidRequest(`Missing required param: ${nameOf(plain)}.`, {
      code: 'parameter_missing',
      param: nameOf(plain),
    });
  }
}

export function unknownParam(name: string) {
  return invalidRequest(`Received unknown parameter: ${name}`, { code: 'parameter_unknown', param: name });
}

function checkValue(value: FormValue, spec: ParamSpec, name: string): void {
  switch (spec.kind) {
    case 'object':
      if (value !== '') checkFields(expectTree(value, 'object', name), spec.fields, name);
      return;
    case 'map':
      checkMetadata(value, name);
      return;
    case 'list':
      if (value === '') return;
      for (const [at, item] of Object.entries(expectTree(value, 'array', name))) {
        checkValue(item, spec.of, `${name}[${at}]`);
      }
      return;
    case 'either':
      checkEither(value, spec.of, name);
      return;
    default:
      checkScalar(value, spec, name);
  }
}

function checkEither(value: FormValue, specs: readonly ParamSpec[], name: string): void {
  const fits = (spec: ParamSpec) => (typeof value === 'string') === (spec.kind !== 'object' && spec.kind !== 'list');
  const candidates = specs.filter(fits);
  const failures: unknown[] = [];
  for (const spec of candidates.length > 0 ? candidates : specs) {
    try {
      checkValue(value, spec, name);
      return;
    } catch (error) {
      failures.push(error);
    }
  }
  throw failures[0];
}

function checkScalar(value: FormValue, spec: ParamSpec, name: string): void {
  if (typeof value !== 'string')
    throw invalidRequest(`Invalid ${spec.kind === 'integer' ? 'integer' : 'string'}: ${JSON.stringify(value)}`, {
      param: name,
    });
  if (value === '' && !('unsettable' in spec && spec.unsettable === true)) {
    throw invalidRequest(
      `You passed an empty string for '${name}'. We assume empty values are an attempt to unset a parameter; however '${name}' cannot be unset. You should remove '${name}' from your request or supply a non-empty value.`,
      { code: 'parameter_invalid_empty', param: name },
    );
  }
  if (spec.kind === 'integer' && !/^-?\d{1,15}$/.test(value)) {
    throw invalidRequest(`Invalid integer: ${value}`, { code: 'parameter_invalid_integer', param: name });
  }
  if (spec.kind === 'flag' && value !== 'true' && value !== 'false') {
    throw invalidRequest(`Invalid boolean: ${value}`, { param: name });
  }
  if (spec.kind === 'choice' && value !== '' && !spec.of.includes(value)) {
    throw invalidRequest(`Invalid ${name}: must be one of ${spec.of.join(', ')}`, { param: name });
  }
  if (spec.kind === 'text' && value.length > (spec.max ?? 5000)) {
    throw invalidRequest(`Invalid string: ${value.slice(0, 10)}...; must be at most ${spec.max ?? 5000} characters`, {
      param: name,
    });
  }
}

function checkMetadata(value: FormValue, name: string): void {
  if (value === '') return;
  const entries = Object.entries(expectTree(value, 'object', name));
  if (entries.length > 50) {
    throw invalidRequest('Metadata can have at most 50 keys.', { param: name });
  }
  for (const [key, item] of entries) {
    if (typeof item !== 'string') {
      throw invalidRequest(
        `Metadata values must be strings, but for key \`${key}\` you passed in a value of type hash.`,
        {
          param: name,
        },
      );
    }
    if (key.length > 40 || /[[\]]/.test(key)) {
      throw invalidRequest(`Metadata keys can have up to 40 characters and no square brackets. Invalid key: ${key}`, {
        param: name,
      });
    }
    if (item.length > 500) {
      throw invalidRequest(
        `Metadata values can have up to 500 characters, but you passed in a value that is ${item.length} characters. Invalid value: ${item}`,
        { param: `${name}[${key}]` },
      );
    }
  }
}

function expectTree(value: FormValue, wanted: 'array' | 'object', name: string): FormTree {
  if (typeof value !== 'string') return value;
  throw invalidRequest(`Invalid ${wanted}`, { param: name });
}

/** Parameters that have passed `validateParams`. */
export class Params {
  constructor(private readonly tree: FormTree) {}

  has(name: string): boolean {
    return this.tree[name] !== undefined;
  }

  /** The text, or undefined when it was not given. An unset is the empty string. */
  text(name: string): string | undefined {
    const value = this.tree[name];
    return typeof value === 'string' ? value : undefined;
  }

  /** The text; null when it was not given or was unset. */
  textOrNull(name: string): string | null {
    return this.text(name) || null;
  }

  integer(name: string): number | undefined {
    const value = this.text(name);
    return value === undefined ? undefined : Number(value);
  }

  flag(name: string): boolean {
    return this.text(name) === 'true';
  }

  child(name: string): Params {
    const value = this.tree[name];
    return new Params(value === undefined || typeof value === 'string' ? emptyTree() : value);
  }

  list(name: string): string[] {
    return Object.values(this.child(name).tree).filter((item) => typeof item === 'string');
  }

  /** The metadata after this request: given names are set, empty ones removed, the others stay. */
  mergedMetadata(before: Readonly<Record<string, string>>): Record<string, string> {
    if (this.tree.metadata === '') return {};
    const merged = { ...before };
    for (const [key, value] of Object.entries(this.child('metadata').tree)) {
      if (value === '') delete merged[key];
      else if (typeof value === 'string')
        Object.defineProperty(merged, key, { value, enumerable: true, writable: true, configurable: true });
    }
    return merged;
  }
}
