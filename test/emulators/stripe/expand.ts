/** `expand[]=latest_charge`, `expand[]=data.customer`: ids replaced by the objects that they name. */
import { invalidRequest } from './errors';
import type { World } from './world';

type Node = Record<string, unknown>;

/** A copy of the object with the named fields expanded. */
export function expand(world: World, subject: object, paths: readonly string[]): Node {
  const copy = structuredClone(subject) as Node;
  for (const path of paths) expandPath(world, copy, path.split('.'), path);
  return copy;
}

function expandPath(world: World, node: Node, parts: readonly string[], path: string): void {
  const [name = '', ...rest] = parts;
  if (!Object.hasOwn(node, name)) {
    throw invalidRequest(`This property cannot be expanded (${path}).`, { param: 'expand' });
  }
  const value = node[name];
  if (Array.isArray(value)) {
    for (const item of value as Node[]) expandPath(world, item, rest, path);
    return;
  }
  const found = typeof value === 'string' ? find(world, value) : undefined;
  if (found !== undefined) node[name] = structuredClone(found);
  const next = node[name];
  if (rest.length > 0 && typeof next === 'object' && next !== null) expandPath(world, next as Node, rest, path);
}

function find(world: World, id: string): object | undefined {
  return (
    world.intents.get(id) ??
    world.charges.get(id) ??
    world.customers.get(id) ??
    world.paymentMethods.get(id) ??
    world.refunds.get(id)
  );
}
