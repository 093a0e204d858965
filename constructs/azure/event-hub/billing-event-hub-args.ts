import type * as pulumi from '@pulumi/pulumi';
import type { ComponentArgs } from '../shared/component-args';
import type { EventHubSku } from './event-hub-limits';

/** Where Event Hubs Capture writes every event, with the identity of the namespace, which is let write there. */
export interface CaptureArgs {
  /**
   * Resource id of the blob container that keeps every event as Avro files:
   * `/subscriptions/…/storageAccounts/<account>/blobServices/default/containers/<container>`. Never one of the
   * checkpoint account.
   */
  readonly containerId: pulumi.Input<string>;
}

export interface BillingEventHubArgs extends ComponentArgs {
  /**
   * An Event Hubs namespace in the resource group that is made elsewhere. `sku` then says its tier.
   * @default - a namespace of its own, without local authentication and with TLS 1.2
   */
  readonly namespaceName?: pulumi.Input<string>;
  /**
   * Tier of the namespace, made here or existing. Basic is refused: it keeps events for one day.
   * @default 'Standard'
   */
  readonly sku?: EventHubSku;
  /**
   * Throughput units (Standard) or processing units (Premium) to begin with.
   * @default 1
   */
  readonly capacity?: number;
  /**
   * Throughput units up to which a Standard namespace grows by itself, so that a producer is not throttled. The same as
   * `capacity`: it does not grow. Azure never lowers it again by itself.
   * @default 4, or `capacity` where that is more
   */
  readonly maximumThroughputUnits?: number;
  /**
   * Name of the hub in its namespace.
   * @default - the component's name
   */
  readonly eventHubName?: string;
  /**
   * Partitions: the most workers that can ever read at once. Decided on the first day: a later change is refused, since
   * it would send a customer's events to another partition than before.
   * @default 4
   */
  readonly partitionCount?: number;
  /**
   * How long an event can still be read, in hours: 48 to 168 on Standard, up to 2160 above.
   * @default 168
   */
  readonly retentionHours?: number;
  /**
   * The consumer group that workers read with, theirs alone. `$Default` is used as it is.
   * @default 'chargeonce'
   */
  readonly consumerGroupName?: string;
  /**
   * Keeps every event beyond the hub's retention too, so that it can be replayed from files.
   * @default - none
   */
  readonly capture?: CaptureArgs;
  /**
   * Id of the Log Analytics workspace that gets the namespace's logs.
   * @default - none
   */
  readonly workspaceId?: pulumi.Input<string>;
  /**
   * Whether namespace and hub are protected, and left behind when the program no longer names them.
   * @default true
   */
  readonly protect?: boolean;
}
