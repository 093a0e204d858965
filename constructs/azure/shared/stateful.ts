import type * as pulumi from '@pulumi/pulumi';

/** What keeps a stateful part alive: the engine refuses to delete or replace it, and a removed program leaves it. */
export function keep(protect: boolean): Pick<pulumi.CustomResourceOptions, 'protect' | 'retainOnDelete'> {
  // Both are said even when off: `protect` would be copied from the parent, `retainOnDelete` would not.
  return { protect, retainOnDelete: protect };
}
