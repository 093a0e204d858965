import type * as pulumi from '@pulumi/pulumi';
import type { ComponentArgs } from '../shared/component-args';

/** How often a checkpoint account is copied. Copies in another region would be of no use: an old checkpoint replays. */
export type CheckpointSku = 'Standard_ZRS' | 'Standard_LRS' | 'Premium_ZRS' | 'Premium_LRS';

/** A storage account that is made elsewhere, and holds checkpoints alone. */
export interface ExistingAccountArgs {
  /** Name of a storage account that is made elsewhere. */
  readonly accountName: pulumi.Input<string>;
  /**
   * Its resource group.
   * @default - the component's
   */
  readonly resourceGroupName?: pulumi.Input<string>;
  /** Says that the account holds checkpoints alone: nothing else is stored in it, now or later. */
  readonly nothingElseUsesIt: true;
}

export interface CheckpointStoreArgs extends ComponentArgs {
  /**
   * Name of the account: 3 to 24 lower-case letters and digits, unique in the whole of Azure.
   * @default - the component's name and a hash of subscription, resource group, project and stack
   */
  readonly accountName?: string;
  /**
   * How the account is copied. `Standard_LRS` where a region has no zones; Premium for checkpoints faster than 10 ms.
   * @default 'Standard_ZRS'
   */
  readonly sku?: CheckpointSku;
  /**
   * The consumer group whose checkpoints these are, which names the container.
   * @default 'chargeonce'
   */
  readonly consumerGroupName?: string;
  /**
   * Name of the container: 3 to 63 lower-case letters, digits and single hyphens.
   * @default - the consumer group's name, as far as a container can have it
   */
  readonly containerName?: string;
  /**
   * The only subnets that reach the account, each with the service endpoint `Microsoft.Storage`.
   * @default - any network, with an Entra token of who was granted
   */
  readonly allowedSubnetIds?: readonly pulumi.Input<string>[];
  /**
   * A storage account that is made elsewhere and used for nothing else. Without the right settings it is refused in a
   * preview; what is switched on in it later, nothing here sees.
   * @default - an account of its own
   */
  readonly existingAccount?: ExistingAccountArgs;
  /**
   * Whether account and container are protected, and left behind when the program no longer names them.
   * @default true
   */
  readonly protect?: boolean;
}
