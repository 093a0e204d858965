import * as pulumi from '@pulumi/pulumi';
import { CheckpointStore } from './checkpoint-store/checkpoint-store';
import { BillingConsumer } from './consumer/billing-consumer';
import { addWorkspace } from './consumer/managed-environment';
import { BillingEventHub } from './event-hub/billing-event-hub';
import type {
  CheckpointSettings,
  EventHubSettings,
  EventHubsBillingArgs,
  LedgerSettings,
} from './event-hubs-billing-args';
import { checkBilling, groupFor } from './event-hubs-billing-checks';
import { LedgerDatabase } from './ledger/ledger-database';
import { BillingMonitoring } from './monitoring/billing-monitoring';

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

  /** @throws all that it and the parts that it makes refuse, in one error, before anything is made */
  constructor(name: string, args: EventHubsBillingArgs, opts?: pulumi.ComponentResourceOptions) {
    checkBilling(name, args);
    super('chargeonce:azure:EventHubsBilling', name, {}, opts);
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
    const group = (settings: CheckpointSettings | undefined) => groupFor(settings, consumerGroupName);
    this.checkpointStore = partOf<CheckpointStore, CheckpointSettings>(
      checkpointStore,
      (settings) => new CheckpointStore(`${name}-checkpoints`, { ...settings, ...kept, ...group(settings) }, parent),
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
