/** Gives form text the types that a schema asks for: forms carry only strings. */
import type { FormTree, FormValue } from '../stripe/form';
import type { Node } from './prune';

/** The value with numbers, booleans and lists where the schema wants them; what does not fit stays as it is. */
export function coerce(value: FormValue, schema: Node): unknown {
  const branches = schema.anyOf as Node[] | undefined;
  if (branches !== undefined) {
    for (const branch of branches) {
      const candidate = coerce(value, branch);
      if (fits(candidate, branch)) return candidate;
    }
    return value;
  }
  if (typeof value === 'string') return coerceText(value, schema);
  if (schema.type === 'array') {
    return Object.values(value).map((item) => coerce(item, (schema.items ?? {}) as Node));
  }
  return coerceFields(value, schema);
}

function coerceText(value: string, schema: Node): unknown {
  if (schema.type === 'integer' && /^-?\d+$/.test(value)) return Number(value);
  if (schema.type === 'number' && value.trim() !== '' && Number.isFinite(Number(value))) return Number(value);
  if (schema.type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true';
  return value;
}

function coerceFields(value: FormTree, schema: Node): Record<string, unknown> {
  const properties = (schema.properties ?? {}) as Record<string, Node>;
  const others = typeof schema.additionalProperties === 'object' ? (schema.additionalProperties as Node) : {};
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name,
      coerce(item, Object.hasOwn(properties, name) ? (properties[name] as Node) : others),
    ]),
  );
}

function fits(value: unknown, schema: Node): boolean {
  const allowed = schema.enum as unknown[] | undefined;
  if (allowed !== undefined && !allowed.includes(value)) return false;
  switch (schema.type) {
    case 'integer':
    case 'number':
      return typeof value === 'number';
    case 'array':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    default:
      return schema.type === undefined || typeof value === schema.type;
  }
}
