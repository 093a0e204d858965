import * as pulumi from '@pulumi/pulumi';

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
 */
export function guard(name: string, check: (change: Change) => void): pulumi.ResourceHookBinding | undefined {
  if (typeof pulumi.runtime.getMonitor()?.registerResourceHook !== 'function') return undefined;
  const hook = new pulumi.ResourceHook(
    name,
    ({ name: resource, oldInputs, newInputs }) => {
      if (newInputs !== undefined) check({ name: resource, from: oldInputs, to: newInputs });
    },
    { onDryRun: true },
  );
  return { beforeCreate: [hook], beforeUpdate: [hook] };
}
