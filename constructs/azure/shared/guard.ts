import * as pulumi from '@pulumi/pulumi';
import { refusal } from './wrong-args';

/** What the engine is about to make of a resource, and what it was. Values may be unknown in a preview. */
export interface Change {
  readonly name: string;
  readonly from: Readonly<Record<string, unknown>> | undefined;
  readonly to: Readonly<Record<string, unknown>>;
}

/**
 * Lets `check` refuse what is about to become of a resource, in preview and in deploy alike, after every transform of
 * the user's has had its say. Throwing is refusing: the engine prints the message and touches nothing.
 *
 * Pulumi's command line calls hooks since 3.182; an older one refuses the program and says so.
 *
 * A monitor that is a mock has no engine behind it, so nothing could call the hook: there is none in a unit test.
 *
 * @param name unique in the program
 * @throws when another component of the program has the name: what Azure names after both would be the same too
 */
export function guard(name: string, check: (change: Change) => void): pulumi.ResourceHookBinding | undefined {
  const monitor = pulumi.runtime.getMonitor();
  if (typeof monitor?.registerResourceHook !== 'function') return undefined;
  refuseSecond(monitor, name);
  const hook = new pulumi.ResourceHook(
    name,
    ({ name: resource, oldInputs, newInputs }) => {
      if (newInputs !== undefined) check({ name: resource, from: oldInputs, to: newInputs });
    },
    { onDryRun: true },
  );
  return { beforeCreate: [hook], beforeUpdate: [hook] };
}

/** The names of each program that this process runs. */
const names = new WeakMap<object, Set<string>>();

/** The engine would refuse it too, in many lines that name no component. */
function refuseSecond(program: object, name: string): void {
  const taken = names.get(program) ?? new Set();
  if (taken.has(name)) {
    const words = `Two components of this program have ${name}; allowed: one.`;
    throw refusal(
      `${words} Azure’s own names follow from a component’s name, whatever its parent is: give one another.`,
    );
  }
  names.set(program, taken.add(name));
}
