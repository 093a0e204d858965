import * as pulumi from '@pulumi/pulumi';
import { CheckpointStore } from './checkpoint-store/checkpoint-store';
import type { CheckpointStoreArgs } from './checkpoint-store/checkpoint-store-args';
import { BillingConsumer } from './consumer/billing-consumer';
import type { BillingConsumerArgs } from './consumer/billing-consumer-args';
import { addWorkspace } from './consumer/managed-environment';
import { BillingEventHub } from './event-hub/billing-event-hub';
import type { BillingEventHubArgs } from './event-hub/billing-event-hub-args';
import { LedgerDatabase } from './ledger/ledger-database';
import type { LedgerDatabaseArgs, LedgerNetworkArgs } from './ledger/ledger-database-args';
import { BillingMonitoring } from './monitoring/billing-monitoring';
import type { BillingMonitoringArgs } from './monitoring/billing-monitoring-args';
import type { ComponentArgs } from './shared/component-args';
import { refuseWrongArgs } from './shared/wrong-args';

/** What the pattern says itself to each part that it makes. */
type SaidHere = keyof ComponentArgs | 'protect' | 'workspaceId' | 'network';

/** How a hub that the pattern makes differs from its defaults: all of `BillingEventHubArgs` that the pattern does not say. */
export type EventHubSettings = Omit<BillingEventHubArgs, SaidHere>;
/** How a store that the pattern makes differs from its defaults: all of `CheckpointStoreArgs` that the pattern does not say. */
export type CheckpointSettings = Omit<CheckpointStoreArgs, SaidHere | 'consumerGroupName'>;
/** How a ledger that the pattern makes differs from its defaults: all of `LedgerDatabaseArgs` that the pattern does not say. */
export type LedgerSettings = Omit<LedgerDatabaseArgs, SaidHere>;

export interface EventHubsBillingArgs
  extends ComponentArgs,
    Pick<
      BillingConsumerArgs,
      | 'image'
      | 'registry'
      | 'stripeKeySecretUri'
      | 'keyVaultId'
      | 'stripeKey'
      | 'spendCap'
      | 'stripeMode'
      | 'minReplicas'
      | 'migrations'
      | 'environment'
    >,
    Pick<BillingMonitoringArgs, 'alertEmails' | 'actionGroupIds'> {
  /**
   * The hub: one of ours, or how the one made here differs from its defaults.
   * @default a new BillingEventHub
   */
  readonly eventHub?: BillingEventHub | EventHubSettings;
  /**
   * The checkpoints: a store of ours, or how the one made here differs from its defaults.
   * @default a new CheckpointStore
   */
  readonly checkpointStore?: CheckpointStore | CheckpointSettings;
  /**
   * The ledger: one of ours, or how the one made here differs from its defaults.
   * @default a new LedgerDatabase in a network of its own
   */
  readonly ledger?: LedgerDatabase | LedgerSettings;
  /**
   * The network of a ledger that is made here, and of the workers. Decided on the first day.
   * @default a network of its own, which reaches Stripe from one fixed address
   */
  readonly network?: LedgerNetworkArgs;
  /**
   * Log Analytics workspace of all logs.
   * @default a new one
   */
  readonly workspaceId?: pulumi.Input<string>;
  /**
   * For tests: `false` turns protection and retention off, on every part made here.
   * @default true
   */
  readonly protect?: boolean;
}

/** All of it in one `new`: a hub, its checkpoints, the ledger, the consumer between them, and alerts on all four. */
export class EventHubsBilling extends pulumi.ComponentResource {
  /** Producers publish to it: `eventHub.grantPublish('metering', principalId)`. */
  readonly eventHub: BillingEventHub;
  /** Who reads which partition, and how far. */
  readonly checkpointStore: CheckpointStore;
  /** What was charged. */
  readonly ledger: LedgerDatabase;
  /** The workers, and the ops job. */
  readonly consumer: BillingConsumer;
  /** Alerts and workbook. */
  readonly monitoring: BillingMonitoring;
  /** Addresses that requests to Stripe come from, for its allow list. Absent: the network was given, its owner knows. */
  readonly egressIps: pulumi.Output<string[]> | undefined;
  /** Log Analytics workspace of all logs. */
  readonly workspaceId: pulumi.Output<string>;
  /** One line for a shell: starts the ops job. It asks for `--help`: put your verb there. */
  readonly opsCommand: pulumi.Output<string>;
  /** One line for a shell: shows what the newest execution of the ops job says. */
  readonly opsLogsCommand: pulumi.Output<string>;
  /** One line for a shell that brings the schema up to date. Absent: `migrations` is at-start. */
  readonly migrateCommand: pulumi.Output<string> | undefined;

  /** @throws when a part that it makes would refuse what it is given; when `network` is given beside a whole ledger */
  constructor(name: string, args: EventHubsBillingArgs, opts?: pulumi.ComponentResourceOptions) {
    super('chargeonce:azure:EventHubsBilling', name, {}, opts);
    checkNetwork(name, args);
    const parent = { parent: this };
    const {
      resourceGroupName,
      tags,
      eventHub,
      checkpointStore,
      ledger,
      network,
      alertEmails,
      actionGroupIds,
      ...more
    } = args;
    const kept = { resourceGroupName, protect: args.protect ?? true, ...(tags === undefined ? {} : { tags }) };
    this.workspaceId = pulumi.output(args.workspaceId ?? addWorkspace(this, `${name}-logs`, kept).id);
    const common = { ...kept, workspaceId: this.workspaceId };

    this.eventHub = partOf<BillingEventHub, EventHubSettings>(
      eventHub,
      (settings) => new BillingEventHub(`${name}-hub`, { ...settings, ...common }, parent),
    );
    const { consumerGroupName } = this.eventHub;
    this.checkpointStore = partOf<CheckpointStore, CheckpointSettings>(
      checkpointStore,
      (settings) => new CheckpointStore(`${name}-checkpoints`, { ...settings, ...kept, consumerGroupName }, parent),
    );
    const place = network === undefined ? {} : { network };
    this.ledger = partOf<LedgerDatabase, LedgerSettings>(
      ledger,
      (settings) => new LedgerDatabase(`${name}-ledger`, { ...settings, ...common, ...place }, parent),
    );
    const parts = { eventHub: this.eventHub, checkpointStore: this.checkpointStore, ledger: this.ledger };
    this.consumer = new BillingConsumer(`${name}-consumer`, { ...more, ...common, ...parts }, parent);
    this.monitoring = new BillingMonitoring(
      `${name}-monitoring`,
      {
        ...{ ...common, ...parts, consumer: this.consumer },
        ...(alertEmails === undefined ? {} : { alertEmails }),
        ...(actionGroupIds === undefined ? {} : { actionGroupIds }),
      },
      parent,
    );
    this.egressIps = this.ledger.egressIps;
    this.opsCommand = this.consumer.opsCommand;
    this.opsLogsCommand = this.consumer.opsLogsCommand;
    this.migrateCommand = this.consumer.migrateCommand;
    this.registerOutputs({
      fullyQualifiedNamespace: this.eventHub.fullyQualifiedNamespace,
      eventHubName: this.eventHub.eventHub.name,
      ledgerHost: this.ledger.host,
      egressIps: this.egressIps,
      opsCommand: this.opsCommand,
      opsLogsCommand: this.opsLogsCommand,
      migrateCommand: this.migrateCommand,
    });
  }
}

/** The part that was given, or one that is made with the settings that were. */
function partOf<Part extends pulumi.ComponentResource, Settings extends object>(
  given: Part | Settings | undefined,
  make: (settings: Settings | undefined) => Part,
): Part {
  return pulumi.ComponentResource.isInstance(given) ? (given as Part) : make(given as Settings | undefined);
}

function checkNetwork(name: string, { network, ledger }: EventHubsBillingArgs): void {
  const both = network !== undefined && pulumi.ComponentResource.isInstance(ledger);
  const wayOut = 'A ledger that is made elsewhere is in its network already.';
  refuseWrongArgs('EventHubsBilling', name, [
    both ? { prop: 'network', received: 'a network beside a ledger', allowed: 'one of the two', wayOut } : undefined,
  ]);
}
