/** Turns the schemas of Stripe's OpenAPI document into JSON Schema, closed: a field that it does not name is wrong. */
import document from './openapi.json';
import type { Node, OpenApiDocument } from './prune';

export const OPENAPI = document as unknown as OpenApiDocument;

/** Where every schema finds the document's objects: compiled once, shared by all. */
export const REFERENCE = 'stripe#/$defs/';

/** All objects of the document, as `$defs`. */
export function definitions(): Record<string, Node> {
  const schemas = Object.entries(OPENAPI.components.schemas);
  return Object.fromEntries(schemas.map(([name, schema]) => [name, toJsonSchema(schema)]));
}

/** JSON Schema for one node: nullable as type null, references to `$defs`, objects closed at every depth. */
export function toJsonSchema(node: Node): Node {
  if (typeof node.$ref === 'string') return { $ref: node.$ref.replace('#/components/schemas/', REFERENCE) };
  const result: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(node)) {
    if (name === 'properties') result.properties = mapValues(value as Node, toJsonSchema);
    else if (name === 'anyOf' || name === 'oneOf') result.anyOf = (value as Node[]).map(toJsonSchema);
    else if (name === 'items') result.items = toJsonSchema(value as Node);
    else if (name === 'additionalProperties' && typeof value === 'object') result[name] = toJsonSchema(value as Node);
    else if (['additionalProperties', 'enum', 'maxLength', 'pattern', 'required', 'type'].includes(name)) {
      result[name] = value;
    }
  }
  // An object without named fields (an event's `data.object`) may hold anything.
  const fields = Object.keys((node.properties ?? {}) as Node).length;
  if (fields > 0 && result.additionalProperties === undefined) result.additionalProperties = false;
  return node.nullable === true ? { anyOf: [result, { type: 'null' }] } : result;
}

export function mapValues(node: Node, change: (value: Node) => Node): Record<string, Node> {
  return Object.fromEntries(Object.entries(node).map(([name, value]) => [name, change(value as Node)]));
}

/** The operation and its template for a concrete path such as `/v1/payment_intents/pi_1/confirm`. */
export function findOperation(method: string, path: string): Node | undefined {
  const parts = path.split('/');
  const templates = Object.entries(OPENAPI.paths).filter(([template, methods]) => {
    const wanted = template.split('/');
    const fits =
      wanted.length === parts.length && wanted.every((part, at) => part.startsWith('{') || part === parts[at]);
    return fits && methods[method.toLowerCase()] !== undefined;
  });
  const best = templates.find(([template]) => template === path) ?? templates[0];
  return best?.[1][method.toLowerCase()];
}
