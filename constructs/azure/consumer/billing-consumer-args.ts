import type * as pulumi from '@pulumi/pulumi';
import type { CheckpointStore } from '../checkpoint-store/checkpoint-store';
import type { BillingEventHub } from '../event-hub/billing-event-hub';
import type { LedgerDatabase } from '../ledger/ledger-database';
import type { ComponentArgs } from '../shared/component-args';
import type { SpendCap } from './spend-cap';

/** Where the image is pulled from. */
export interface RegistryArgs {
  /** Its host, as in `contoso.azurecr.io`: the one that `image` begins with. */
  readonly server: string;
  /** Its resource id. The identities that pull are let read it (`AcrPull`). */
  readonly id: pulumi.Input<string>;
}

/**
 * Who brings the ledger's schema up to date. `at-start`: each replica, before its worker starts, a no-op of a tenth of a
 * second when the schema is current. `manual`: you, with `migrateCommand`, which is in every worker's log too. A worker
 * that finds the schema too old waits, unready, for some minutes and is then started anew; so on a new ledger run the
 * command as soon as the deploy has printed it.
 */
export type Migrations = 'at-start' | 'manual';

/** Where the console logs of the environment are found in Log Analytics. */
export type LogTable = 'ContainerAppConsoleLogs' | 'ContainerAppConsoleLogs_CL';

export interface BillingConsumerArgs extends ComponentArgs {
  /** The events to charge. */
  readonly eventHub: BillingEventHub;
  /** Who reads which partition. One consumer, one container. */
  readonly checkpointStore: CheckpointStore;
  /** What was charged. */
  readonly ledger: LedgerDatabase;
  /**
   * The runtime's image, pinned by its digest: `contoso.azurecr.io/chargeonce@sha256:…`, which
   * `npx chargeonce image build --acr contoso` prints.
   */
  readonly image: string;
  /**
   * Where the image is pulled from.
   * @default for an image on Azure's registries the registry of that name in `resourceGroupName`; any other is public
   */
  readonly registry?: RegistryArgs;
  /**
   * URI of the Key Vault secret that is a restricted key (`rk_…`). Read by the platform with the worker's identity, which
   * is let read this secret only. Exactly one of this, with `keyVaultId`, and `stripeKey` is given.
   * @default `stripeKey`
   */
  readonly stripeKeySecretUri?: pulumi.Input<string>;
  /**
   * Resource id of the vault of `stripeKeySecretUri`. It must use Azure role-based access control.
   * @default `stripeKey`
   */
  readonly keyVaultId?: pulumi.Input<string>;
  /**
   * The restricted key itself, as a secret of the stack: encrypted in the state, a secret of the container app.
   * @default the one in Key Vault
   */
  readonly stripeKey?: pulumi.Input<string>;
  /** The most that a billing period may cost. Must be said. */
  readonly spendCap: SpendCap;
  /**
   * Which half of the Stripe account the key belongs to; another key is refused at start.
   * @default test
   */
  readonly stripeMode?: 'test' | 'live';
  /**
   * Requests a second that the whole fleet may send to one Stripe endpoint. Each replica gets its share: a part of it for
   * each of the most replicas that run at once, which is twice `maxReplicas` while a revision changes. The ops job has one
   * share too.
   * @default 20
   */
  readonly stripeMaxRps?: number;
  /**
   * The Container Apps environment to run in. It needs a Consumption workload profile (init containers have identities
   * there only) and a way to the ledger.
   * @default an environment of its own
   */
  readonly managedEnvironmentId?: pulumi.Input<string>;
  /**
   * Subnet of an environment of its own, delegated to `Microsoft.App/environments`.
   * @default `environmentSubnetId` of the ledger; with an existing server that names none: no network, with a warning
   */
  readonly environmentSubnetId?: pulumi.Input<string>;
  /**
   * Log Analytics workspace of the environment's logs. With `managedEnvironmentId`: where its owner sends them.
   * @default a workspace of its own; not known with `managedEnvironmentId`
   */
  readonly workspaceId?: pulumi.Input<string>;
  /**
   * With `managedEnvironmentId`: the table its logs are in, which its log destination decides: `ContainerAppConsoleLogs`
   * for Azure Monitor, `ContainerAppConsoleLogs_CL` for Log Analytics.
   * @default `ContainerAppConsoleLogs`, as an environment of its own has, and `ContainerAppConsoleLogs_CL` for another
   */
  readonly logTable?: LogTable;
  /**
   * Replicas that always run, 1 at least.
   * @default 2
   */
  readonly minReplicas?: number;
  /**
   * The most replicas, no more than the hub has partitions. Stripe's rate is the ceiling, not the replicas, so scaling
   * rarely helps; each change of their number moves partitions and repeats events.
   * @default `minReplicas`
   */
  readonly maxReplicas?: number;
  /**
   * Cores of a replica, 0.25 to 4 in steps of 0.25.
   * @default 0.5
   */
  readonly cpu?: number;
  /**
   * Memory of a replica: two Gi for each core, as in `1Gi`.
   * @default what goes with `cpu`
   */
  readonly memory?: string;
  /**
   * Who brings the ledger's schema up to date.
   * @default at-start
   */
  readonly migrations?: Migrations;
  /**
   * More settings of the runtime, for worker and ops job. Names that this component sets are refused, and so are values
   * that a worker would refuse.
   * A secret of the stack is refused: it would stand in clear in the app.
   * @default the runtime's own defaults
   */
  readonly environment?: Readonly<Record<string, pulumi.Input<string>>>;
  /**
   * Days that a workspace of its own keeps logs, 30 to 730.
   * @default 90
   */
  readonly logRetentionDays?: number;
  /**
   * Whether a workspace of its own is protected, and kept when the program no longer has it.
   * @default true
   */
  readonly protect?: boolean;
}
