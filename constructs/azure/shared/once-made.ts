import type * as pulumi from '@pulumi/pulumi';

/** A value that is known before anything is made, for a reader that must wait until `resource` is there. */
export function onceMade<T>(resource: pulumi.Resource, value: T): pulumi.Output<T> {
  return resource.urn.apply(() => value) as pulumi.Output<T>;
}
