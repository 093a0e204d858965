import { isDeepStrictEqual } from 'node:util';
import type { Registered, Run } from './mocks';

type Resources = Pick<Run<unknown>, 'resources'>;

/** Names of the resources that one program has and the other has not, or has otherwise. */
export function changedResources(one: Resources, other: Resources): string[] {
  const before = new Map(one.resources.map((each) => [each.name, each]));
  const after = new Map(other.resources.map((each) => [each.name, each]));
  const names = [...new Set([...before.keys(), ...after.keys()])];
  return names.filter((name) => !isDeepStrictEqual(treated(before.get(name)), treated(after.get(name)))).sort();
}

/** The order in which resources are registered is the scheduler's affair; so is that of what they wait for. */
function treated(resource: Registered | undefined): unknown {
  return resource && { ...resource, dependsOn: [...resource.dependsOn].sort() };
}
