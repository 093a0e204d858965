import type * as pulumi from '@pulumi/pulumi';

/** What every component takes. */
export interface ComponentArgs {
  /** The resource group that everything is made in. Its location is theirs. */
  readonly resourceGroupName: pulumi.Input<string>;
  /**
   * Tags of every resource that takes some.
   * @default none
   */
  readonly tags?: pulumi.Input<Record<string, pulumi.Input<string>>>;
}
