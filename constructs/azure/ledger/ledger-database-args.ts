import type * as pulumi from '@pulumi/pulumi';
import type { ComponentArgs } from '../shared/component-args';

/** A network that is made elsewhere. */
export interface LedgerNetworkArgs {
  /** The subnet for the server alone, delegated to `Microsoft.DBforPostgreSQL/flexibleServers`, /28 or larger. */
  readonly subnetId: pulumi.Input<string>;
  /** The private DNS zone for the server, ending in `.postgres.database.azure.com` and linked to the network. */
  readonly privateDnsZoneId: pulumi.Input<string>;
  /**
   * The subnet for the consumer's Container Apps environment, delegated to `Microsoft.App/environments`, /27 or larger,
   * with a way to the server and to Stripe.
   * @default - none: the consumer is given an environment that reaches the server
   */
  readonly environmentSubnetId?: pulumi.Input<string>;
}

/** A flexible server that is made elsewhere. */
export interface ExistingServerArgs {
  /** Its name. */
  readonly serverName: pulumi.Input<string>;
  /**
   * Its resource group.
   * @default - the component's
   */
  readonly resourceGroupName?: pulumi.Input<string>;
  /**
   * The subnet for the consumer's Container Apps environment, with a way to the server and to Stripe.
   * @default - none: the consumer is given an environment that reaches the server
   */
  readonly environmentSubnetId?: pulumi.Input<string>;
}

/** Where a second server waits. `off`: nowhere, as where a region has no zones, or in a test. */
export type LedgerHighAvailability = 'ZoneRedundant' | 'SameZone' | 'off';

export interface LedgerDatabaseArgs extends ComponentArgs {
  /**
   * A network that is made elsewhere. Decided on the first day: no server moves to another subnet.
   * @default - a network of its own, with a subnet for the server and one for the consumer's environment, which reaches
   * Stripe from one fixed address
   */
  readonly network?: LedgerNetworkArgs;
  /**
   * Major version of PostgreSQL, 14 or later.
   * @default '17'
   */
  readonly version?: '14' | '15' | '16' | '17' | '18';
  /**
   * Size of the server, as Azure names it.
   * @default 'Standard_D2ds_v5'
   */
  readonly skuName?: string;
  /**
   * Storage to begin with, in GiB. It grows by itself and never shrinks, so a later change here has no effect.
   * @default 32
   */
  readonly storageSizeGB?: number;
  /**
   * Where a second server waits to take over.
   * @default 'ZoneRedundant'
   */
  readonly highAvailability?: LedgerHighAvailability;
  /**
   * How many days back the ledger can be restored, 7 to 35.
   * @default 14
   */
  readonly backupRetentionDays?: number;
  /**
   * The database in the server.
   * @default 'chargeonce'
   */
  readonly databaseName?: string;
  /**
   * A flexible server that is made elsewhere, with Entra authentication on. Only the database is made in it.
   * @default - a server of its own
   */
  readonly existing?: ExistingServerArgs;
  /**
   * Id of the Log Analytics workspace that gets the server's logs.
   * @default - none
   */
  readonly workspaceId?: pulumi.Input<string>;
  /**
   * Whether server, database and what the server lives in are protected, and left behind when the program no longer
   * names them.
   * @default true
   */
  readonly protect?: boolean;
}
