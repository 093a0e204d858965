import type * as pulumi from '@pulumi/pulumi';
import type { AlertName } from '../../shared/alarm-texts-azure';
import type { LogTable } from '../consumer/billing-consumer-args';
import type { ComponentArgs } from '../shared/component-args';

/** A resource, as far as it is watched. */
export interface WatchedResource {
  /** Its resource id. */
  readonly id: pulumi.Output<string>;
  /** Its name in Azure. */
  readonly name: pulumi.Output<string>;
}

/** What is needed of a `BillingConsumer`. */
export interface WatchedConsumer {
  /** Runs the workers; the alert on their silence is made after it. */
  readonly app: pulumi.Resource & WatchedResource;
  /** Value of METRICS_SERVICE of its workers. */
  readonly metricsService: pulumi.Input<string>;
  /** Where the console log of its environment arrives in the workspace. */
  readonly logTable: LogTable;
  /** Shown in the workbook. */
  readonly opsCommand: pulumi.Input<string>;
  /** Fewer replicas than this are an alert. */
  readonly minReplicas: number;
  /** How many replicas may hold connections to the ledger. */
  readonly maxReplicas: number;
}

/** What is needed of a `BillingEventHub`. */
export interface WatchedEventHub {
  /** Resource id of the namespace, which has the metrics. */
  readonly namespaceId: pulumi.Output<string>;
  /** The hub, one of the namespace's. */
  readonly eventHub: WatchedResource;
  /** Its partitions: each one that changes its reader is an error that Event Hubs counts. */
  readonly partitionCount: number;
  /** How long it keeps events, in hours: `lagCritical` pages at a quarter of it. */
  readonly retentionHours: number;
  /** Whether Capture is on. */
  readonly capturing?: boolean;
}

/** What is needed of a `CheckpointStore`. */
export interface WatchedCheckpointStore {
  /** Resource id of the storage account. */
  readonly accountId: pulumi.Output<string>;
}

/** What is needed of a `LedgerDatabase`. */
export interface WatchedLedger {
  /** Resource id of the flexible server. */
  readonly serverId: pulumi.Output<string>;
}

export interface BillingMonitoringArgs extends ComponentArgs {
  /** Resource id of the Log Analytics workspace that has the console log of the workers. */
  readonly workspaceId: pulumi.Input<string>;
  /**
   * The workers to watch.
   * @default none: no alert on workers, and no charts of them
   */
  readonly consumer?: WatchedConsumer;
  /**
   * The event hub that they read.
   * @default none: no alert on it; `lagCritical` takes a retention of 24 hours for granted
   */
  readonly eventHub?: WatchedEventHub;
  /**
   * Where they keep their checkpoints.
   * @default none: no alert on the storage account
   */
  readonly checkpointStore?: WatchedCheckpointStore;
  /**
   * The ledger.
   * @default none: no alert on the database; that it does not answer is seen by the workers
   */
  readonly ledger?: WatchedLedger;
  /**
   * Who is told of every alert by e-mail, and of its end.
   * @default nobody
   */
  readonly alertEmails?: readonly string[];
  /**
   * Action groups that are told of every alert and of its end. Severity 0 is for waking somebody, 2 for the morning.
   * @default none: with no e-mail address either, nobody is told, with a warning
   */
  readonly actionGroupIds?: readonly pulumi.Input<string>[];
  /**
   * Action groups that are told of what waits for the morning (severity 2), in place of the others. An empty list: nobody,
   * such an alert is seen in the portal and in the workbook only.
   * @default those that are told of everything
   */
  readonly warningActionGroupIds?: readonly pulumi.Input<string>[];
  /**
   * How far charging may lag, in minutes, before the alert `lagWarning`. `lagCritical` follows at a quarter of the event
   * hub's retention.
   * @default 5
   */
  readonly lagMinutes?: number;
  /**
   * Whether to make a workbook.
   * @default true
   */
  readonly workbook?: boolean;
  /**
   * Alerts that are not wanted, by name.
   * @default none
   */
  readonly disable?: readonly AlertName[];
}
