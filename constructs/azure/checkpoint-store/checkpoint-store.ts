import type * as authorization from '@pulumi/azure-native/authorization';
import * as storage from '@pulumi/azure-native/storage';
import * as pulumi from '@pulumi/pulumi';
import { ENVIRONMENT } from '../../../runtime/contract';
import { onceMade } from '../shared/once-made';
import { assignRole } from '../shared/role-assignment';
import { keep } from '../shared/stateful';
import { existingAccount, ownAccount } from './checkpoint-account';
import { planContainer } from './checkpoint-checks';
import type { CheckpointStoreArgs } from './checkpoint-store-args';

/**
 * Where workers write who reads which partition and how far: a container in a storage account that is used for nothing
 * else, with all off that keeps what was overwritten, and no shared key. Losing it costs reading the hub anew from its
 * start; the ledger charges nothing twice.
 */
export class CheckpointStore extends pulumi.ComponentResource {
  /** The account, when it is made here. */
  readonly account: storage.StorageAccount | undefined;
  /** Resource id of the account, made here or elsewhere. */
  readonly accountId: pulumi.Output<string>;
  /** Name of the account. */
  readonly accountName: pulumi.Output<string>;
  /** Holds ownership and checkpoints, and nothing else. */
  readonly container: storage.BlobContainer;
  /** Name of the container. */
  readonly containerName: pulumi.Output<string>;
  /** Address of the container: `https://<account>.blob.core.windows.net/<container>`. */
  readonly containerUrl: pulumi.Output<string>;
  /** What a worker is told about the store. */
  readonly connectionEnvironment: Readonly<Record<string, pulumi.Output<string>>>;

  /**
   * @throws when Azure takes no such name of account or container; when an existing account is shared, has a hierarchical
   * namespace, or keeps what was overwritten; when the account is to be copied to another region
   */
  constructor(name: string, args: CheckpointStoreArgs, opts?: pulumi.ComponentResourceOptions) {
    super('chargeonce:azure:CheckpointStore', name, {}, opts);
    const containerName = planContainer(name, args);
    const place =
      args.existingAccount === undefined
        ? ownAccount(this, name, args)
        : existingAccount(this, name, args.existingAccount, args);

    this.account = place.account;
    this.accountId = place.id;
    this.accountName = place.name;
    this.container = new storage.BlobContainer(
      `${name}-container`,
      {
        resourceGroupName: place.resourceGroupName,
        accountName: place.name,
        containerName,
        publicAccess: storage.PublicAccess.None,
      },
      { parent: this, ...keep(args.protect ?? true) },
    );
    this.containerName = onceMade(this.container, containerName);
    this.containerUrl = pulumi.interpolate`${place.blobEndpoint}${this.containerName}`;
    this.connectionEnvironment = { [ENVIRONMENT.CHECKPOINT_CONTAINER_URL]: this.containerUrl };
    this.registerOutputs({ accountName: this.accountName, containerUrl: this.containerUrl });
  }

  /**
   * Lets a worker read and write checkpoints in this container, and nothing else.
   *
   * @param name child name in the program, static
   * @param principalId object id of the worker's identity
   */
  grantCheckpoint(name: string, principalId: pulumi.Input<string>): authorization.RoleAssignment {
    return assignRole(this, name, { scope: this.container.id, principalId, role: 'Storage Blob Data Contributor' });
  }

  /**
   * Lets an autoscaler or a person read the checkpoints in this container, and nothing else.
   *
   * @param name child name in the program, static
   * @param principalId object id of the reader's identity
   */
  grantRead(name: string, principalId: pulumi.Input<string>): authorization.RoleAssignment {
    return assignRole(this, name, { scope: this.container.id, principalId, role: 'Storage Blob Data Reader' });
  }
}
