/**
 * Cuts Stripe's OpenAPI document down to what billing sends and reads, so that it can be kept with the tests:
 * `npx tsx test/emulators/openapi/prune.ts spec3.json > test/emulators/openapi/openapi.json`. The document is in the
 * Go module github.com/stripe/stripe-mock, at embedded/openapi/spec3.json (MIT licence, LICENSE beside this file).
 */
import { readFileSync } from 'node:fs';

export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Node>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Node>> };
}

/** Any JSON object of the document. */
export interface Node {
  readonly [name: string]: unknown;
}

const OPERATIONS: Readonly<Record<string, readonly string[]>> = {
  '/v1/account': ['get'],
  '/v1/charges': ['get', 'post'],
  '/v1/charges/search': ['get'],
  '/v1/charges/{charge}': ['get'],
  '/v1/customers': ['post'],
  '/v1/customers/{customer}': ['get', 'post'],
  '/v1/customers/{customer}/payment_methods': ['get'],
  '/v1/events': ['get'],
  '/v1/payment_intents': ['get', 'post'],
  '/v1/payment_intents/search': ['get'],
  '/v1/payment_intents/{intent}': ['get', 'post'],
  '/v1/payment_intents/{intent}/cancel': ['post'],
  '/v1/payment_intents/{intent}/confirm': ['post'],
  '/v1/payment_methods/{payment_method}': ['get'],
  '/v1/payment_methods/{payment_method}/attach': ['post'],
  '/v1/refunds': ['post'],
  '/v1/refunds/{refund}': ['get'],
};

/** Objects that stand whole in the pruned document; a field that expands to another one is an id there. */
const OBJECTS = ['account', 'charge', 'customer', 'error', 'event', 'payment_intent', 'payment_method', 'refund'];

/** Of the kinds of payment, these two stay. */
const KINDS_KEPT = ['card', 'us_bank_account'];
const NOT_KINDS =
  /^(allow_redisplay|billing_details|created|customer|customer_account|id|livemode|metadata|object|radar_options|type)$/;
/** Fields of an answer that lead to much, and that the emulator never sends. */
const FIELDS_DROPPED: Readonly<Record<string, readonly string[]>> = {
  account: [
    'capabilities',
    'company',
    'controller',
    'external_accounts',
    'future_requirements',
    'individual',
    'requirements',
    'settings',
    'tos_acceptance',
    'business_profile',
    'groups',
  ],
  charge: ['level3', 'refunds'],
  customer: ['sources', 'subscriptions', 'tax_ids', 'discount', 'tax', 'cash_balance'],
  api_errors: ['setup_intent', 'source'],
  payment_intent: ['hooks', 'payment_details', 'managed_payments'],
};

/** The part of the document for billing. Pruning twice changes nothing. */
export function prune(document: OpenApiDocument): OpenApiDocument {
  const kinds = foreignKinds(document);
  const clean = (node: unknown) => strip(node, kinds);
  const paths: Record<string, Record<string, Node>> = {};
  for (const [path, methods] of Object.entries(OPERATIONS)) {
    paths[path] = {};
    for (const method of methods) {
      const operation = document.paths[path]?.[method];
      if (operation === undefined) throw new Error(`the document has no ${method} ${path}`);
      const { operationId, parameters, requestBody, responses } = operation;
      paths[path][method] = clean({ operationId, parameters, requestBody, responses }) as Node;
    }
  }
  const schemas: Record<string, Node> = {};
  const visit = (node: unknown): void => {
    for (const name of references(node)) {
      if (schemas[name] !== undefined) continue;
      const source = document.components.schemas[name];
      if (source === undefined) throw new Error(`the document has no schema ${name}`);
      schemas[name] = clean(withoutFields(source, FIELDS_DROPPED[name] ?? [])) as Node;
      visit(schemas[name]);
    }
  };
  visit([paths, ...OBJECTS.map((name) => ({ $ref: `#/components/schemas/${name}` }))]);
  const sorted = Object.fromEntries(Object.entries(schemas).sort(([left], [right]) => (left < right ? -1 : 1)));
  const { title, version } = document.info;
  return { openapi: document.openapi, info: { title, version }, paths, components: { schemas: sorted } };
}

/** Names of the kinds of payment that are left out, read off the fields of a payment method. */
function foreignKinds(document: OpenApiDocument): ReadonlySet<string> {
  const fields = Object.keys((document.components.schemas.payment_method?.properties ?? {}) as Node);
  return new Set(fields.filter((field) => !NOT_KINDS.test(field) && !KINDS_KEPT.includes(field)));
}

function withoutFields(schema: Node, dropped: readonly string[]): Node {
  const properties = Object.entries((schema.properties ?? {}) as Node).filter(([name]) => !dropped.includes(name));
  return { ...schema, ...(schema.properties === undefined ? {} : { properties: Object.fromEntries(properties) }) };
}

/** Without texts for people, vendor extensions, other kinds of payment and expansions to objects that are not kept. */
function strip(node: unknown, kinds: ReadonlySet<string>): unknown {
  if (Array.isArray(node)) return node.map((item) => strip(item, kinds));
  if (typeof node !== 'object' || node === null) return node;
  const source = node as Node;
  const result: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(source)) {
    if (value === undefined || name.startsWith('x-') || (name === 'description' && typeof value === 'string')) continue;
    if (name === 'properties') result[name] = stripProperties(value as Node, kinds);
    else if (name === 'anyOf' && source['x-expansionResources'] !== undefined)
      result[name] = keptBranches(value as Node[]);
    else result[name] = strip(value, kinds);
  }
  return result;
}

function stripProperties(properties: Node, kinds: ReadonlySet<string>): Node {
  const names = Object.keys(properties);
  const isPerKind = names.filter((name) => kinds.has(name)).length >= 3;
  const kept = names.filter((name) => !(isPerKind && kinds.has(name)));
  return Object.fromEntries(kept.map((name) => [name, strip(properties[name], kinds)]));
}

function keptBranches(branches: readonly Node[]): unknown[] {
  return branches.filter((branch) => {
    const target = typeof branch.$ref === 'string' ? branch.$ref.split('/').at(-1) : undefined;
    return target === undefined || OBJECTS.includes(target);
  });
}

function references(node: unknown): string[] {
  if (Array.isArray(node)) return node.flatMap(references);
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([name, value]) =>
    name === '$ref' && typeof value === 'string' ? [value.split('/').at(-1) ?? ''] : references(value),
  );
}

if (require.main === module) {
  const [file] = process.argv.slice(2);
  if (file === undefined) throw new Error('usage: prune.ts <spec3.json>');
  process.stdout.write(`${JSON.stringify(prune(JSON.parse(readFileSync(file, 'utf8')) as OpenApiDocument))}\n`);
}
