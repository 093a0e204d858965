/** Where each of our fields stands in a body: our spellings, or a JSON Pointer (RFC 6901) from EVENT_FIELDS. */

import { JsonNumber, readInteger } from './json-number';
import { isJsonObject, type JsonObject } from './parse-body';
import { reject } from './rejected';
import { show } from './show';

/** Our names and every spelling that is understood without a mapping. */
const SPELLINGS = {
  customer_id: ['customer_id', 'customerId', 'account_id', 'accountId'],
  billing_period: ['billing_period', 'billingPeriod'],
  amount_cents: ['amount_cents', 'amountCents'],
  stripe_customer_id: ['stripe_customer_id', 'stripeCustomerId'],
  currency: ['currency'],
  payment_method: ['payment_method', 'paymentMethod'],
  description: ['description'],
  units_consumed: ['units_consumed', 'unitsConsumed'],
  metadata: ['metadata'],
  event_id: ['event_id', 'eventId'],
} as const;
export type FieldName = keyof typeof SPELLINGS;
export const FIELD_NAMES = Object.keys(SPELLINGS) as readonly FieldName[];

/** Our name → JSON Pointer into the producer's body. A mapped field is read from there alone. */
export type FieldPointers = Readonly<Partial<Record<FieldName, string>>>;

/** A field as it was found: `value` undefined when absent; `label` names it in a reason. */
export interface Found {
  readonly label: string;
  readonly value: unknown;
}
export type FindField = (body: JsonObject, field: FieldName) => Found;

/** The pointer's steps. Throws when it is not one. */
export function parsePointer(pointer: string): readonly string[] {
  if (!/^(\/([^~/]|~[01])*)+$/.test(pointer)) {
    throw new Error(
      `${JSON.stringify(pointer)} is not a JSON Pointer; write for example "/usage/account_id" (RFC 6901)`,
    );
  }
  return pointer
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function follow(body: JsonObject, steps: readonly string[]): unknown {
  let at: unknown = body;
  for (const step of steps) {
    if (Array.isArray(at)) at = /^(0|[1-9]\d*)$/.test(step) ? at[Number(step)] : undefined;
    else if (isJsonObject(at)) at = Object.hasOwn(at, step) ? at[step] : undefined;
    else return undefined;
  }
  return at;
}

function same(a: unknown, b: unknown): boolean {
  if (a instanceof JsonNumber && b instanceof JsonNumber) {
    if (a.text === b.text) return true;
    const [x, y] = [readInteger(a), readInteger(b)];
    return x.kind === 'integer' && y.kind === 'integer' && x.value === y.value;
  }
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, i) => same(item, b[i]));
  if (isJsonObject(a) && isJsonObject(b)) {
    const keys = Object.keys(a);
    return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && same(a[key], b[key]));
  }
  return a === b;
}

/** A null counts as absent. */
function bySpelling(body: JsonObject, field: FieldName): Found {
  const present = SPELLINGS[field].filter((name) => Object.hasOwn(body, name) && body[name] !== null);
  const [first, ...others] = present;
  if (first === undefined) return { label: field, value: undefined };
  for (const other of others) {
    if (same(body[first], body[other])) continue;
    reject(
      `${first} is ${show(body[first])} and ${other} is ${show(body[other])}; ` +
        `both are read as ${field}, so they must agree (or EVENT_FIELDS says which one counts).`,
    );
  }
  return { label: first, value: body[first] };
}

/** Makes the finder. Throws when the mapping has an unknown name or a pointer that is none. */
export function createFindField(pointers: FieldPointers = {}): FindField {
  const mapped = new Map<FieldName, { readonly label: string; readonly steps: readonly string[] }>();
  for (const [name, pointer] of Object.entries(pointers)) {
    const field = FIELD_NAMES.find((known) => known === name);
    if (field === undefined) {
      throw new Error(`EVENT_FIELDS maps ${JSON.stringify(name)}; allowed names are ${FIELD_NAMES.join(', ')}`);
    }
    mapped.set(field, { label: `${field} (at ${pointer})`, steps: parsePointer(pointer) });
  }
  return (body, field) => {
    const found = mapped.get(field);
    if (found === undefined) return bySpelling(body, field);
    return { label: found.label, value: follow(body, found.steps) ?? undefined };
  };
}
