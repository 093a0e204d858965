/** The questions that tests ask of deployed stacks. */
import { differences } from './compare';
import type { DeployedStack } from './deployed-stack';
import { READERS } from './readers';

/** Each way in which resources of a type are not what their templates say, by stack and logical id. */
export async function misfits(stacks: readonly DeployedStack[], type: string): Promise<string[]> {
  const reader = READERS[type];
  if (!reader) return [`Nobody reads back ${type}: write a reader`];
  const each = stacks.flatMap((stack) => stack.ofType(type).map((id) => ({ stack, id })));
  const found = await Promise.all(
    each.map(async ({ stack, id }) => {
      const { properties } = await stack.resource(id);
      const reading = await stack.read(id);
      return differences(properties, reading, reader.notKept).map((what) => `${stack.name}.${id}: ${what}`);
    }),
  );
  return found.flat();
}
