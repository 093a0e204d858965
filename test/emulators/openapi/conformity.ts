/** Holds requests and answers against Stripe's own OpenAPI document, nested objects included. */
import Ajv, { type ErrorObject, type ValidateFunction } from 'ajv';
import { parseForm } from '../stripe/form';
import { coerce } from './coerce';
import type { Node } from './prune';
import { definitions, findOperation, REFERENCE, toJsonSchema } from './schemas';

const ajv = new Ajv({ allErrors: true, strict: false, validateFormats: false });
const $defs = definitions();
ajv.addSchema({ $id: 'stripe', $defs });
const compiled = new Map<string, ValidateFunction>();

/** Stripe's document is a release older than the API version that is pinned: requests have lost these since. */
const RETIRED = /(^|&)(payment_method_types)(%5B|\[|=)/i;

/**
 * What Stripe's document has against a request: unknown parameters at any depth, wrong types and values, missing
 * ones. Empty when it conforms. `form` is the body of a POST, the query of a GET.
 */
export function requestViolations(method: string, path: string, form: string): string[] {
  const operation = findOperation(method, path);
  if (operation === undefined) return [`${method} ${path}: not in the pruned document`];
  const retired = RETIRED.exec(form)?.[2];
  if (retired !== undefined) return [`/ ${retired} is no longer a parameter in 2026-10-28.endive`];
  const schema = method === 'GET' ? querySchema(operation) : bodySchema(operation);
  return violations(`${operation.operationId} request`, schema, coerce(parseForm(form), schema));
}

/** What Stripe's document has against an answer. Statuses from 400 on are held against the error object. */
export function responseViolations(method: string, path: string, status: number, body: string): string[] {
  const operation = findOperation(method, path);
  if (operation === undefined) return [`${method} ${path}: not in the pruned document`];
  const value: unknown = JSON.parse(body);
  if (status !== 200) return violations('error', { $ref: `${REFERENCE}error` }, value);
  return violations(
    `${operation.operationId} answer`,
    contentSchema((operation.responses as Node)['200'] as Node),
    value,
  );
}

/** What the document has against an object of a type that it names, such as `payment_intent`. */
export function objectViolations(type: string, value: unknown): string[] {
  if ($defs[type] === undefined) return [`${type}: not in the pruned document`];
  return violations(`object ${type}`, { $ref: `${REFERENCE}${type}` }, value);
}

function violations(name: string, schema: Node, value: unknown): string[] {
  const validate = compiled.get(name) ?? ajv.compile(schema);
  compiled.set(name, validate);
  return validate(value) ? [] : (validate.errors ?? []).map(describe);
}

function describe(error: ErrorObject): string {
  const detail = error.params.additionalProperty ?? error.params.allowedValues ?? '';
  return `${error.instancePath || '/'} ${error.message ?? error.keyword} ${detail}`.trim();
}

function contentSchema(holder: Node): Node {
  const content = Object.values(holder.content as Record<string, { schema: Node }>);
  return toJsonSchema(content[0]?.schema ?? {});
}

function bodySchema(operation: Node): Node {
  return contentSchema(operation.requestBody as Node);
}

function querySchema(operation: Node): Node {
  const parameters = ((operation.parameters ?? []) as Node[]).filter((parameter) => parameter.in === 'query');
  const properties = Object.fromEntries(
    parameters.map((parameter) => [String(parameter.name), toJsonSchema(parameter.schema as Node)]),
  );
  const required = parameters.filter((parameter) => parameter.required === true).map((parameter) => parameter.name);
  return { type: 'object', properties, required, additionalProperties: false };
}
