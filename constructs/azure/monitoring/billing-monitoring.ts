import * as applicationinsights from '@pulumi/azure-native/applicationinsights';
import * as monitor from '@pulumi/azure-native/monitor';
import * as pulumi from '@pulumi/pulumi';
import type { AlertName } from '../../shared/alarm-texts-azure';
import { nameUuid } from '../shared/name-uuid';
import type { AlertSpec, MetricAlertSpec } from './alert-specs';
import type { BillingMonitoringArgs } from './billing-monitoring-args';
import { type AlertContext, createLogAlert, createMetricAlert } from './create-alert';
import { checkMonitoring } from './monitoring-checks';
import { appAlerts, checkpointStoreAlerts, eventHubAlerts, ledgerAlerts } from './resource-alerts';
import { workbookContent } from './workbook';
import { lagLimits, workerAlerts } from './worker-alerts';

const TYPE = 'chargeonce:azure:BillingMonitoring';
const DEFAULT_LAG_MINUTES = 5;

/** Alerts on every part that is given, by e-mail or to action groups, and a workbook with the same figures. */
export class BillingMonitoring extends pulumi.ComponentResource {
  /** Every alert that was made, by name. */
  readonly alerts: Readonly<Partial<Record<AlertName, monitor.ScheduledQueryRule | monitor.MetricAlert>>>;
  /** Undefined without `alertEmails`. */
  readonly actionGroup: monitor.ActionGroup | undefined;
  /** Undefined when `workbook` is false. */
  readonly workbook: applicationinsights.Workbook | undefined;

  /** @throws when `lagMinutes` is too small or not before the page, when `disable` names no alert, an address is none */
  constructor(name: string, args: BillingMonitoringArgs, options: pulumi.ComponentResourceOptions = {}) {
    super(TYPE, name, {}, options);
    checkMonitoring(name, args);
    this.actionGroup = this.emailGroup(name, args);
    const context = this.context(name, args);
    const wanted = ({ name: alert }: AlertSpec) => !(args.disable ?? []).includes(alert);
    this.alerts = Object.fromEntries([
      ...createLogAlerts(args, context, wanted),
      ...resourceAlerts(args)
        .filter(wanted)
        .map((spec) => [spec.name, createMetricAlert(spec, context)] as const),
    ]);
    this.workbook = (args.workbook ?? true) ? this.createWorkbook(name, args) : undefined;
    this.registerOutputs({ workbookId: this.workbook?.id });
  }

  private emailGroup(name: string, args: BillingMonitoringArgs): monitor.ActionGroup | undefined {
    const emails = args.alertEmails ?? [];
    if (emails.length === 0) return undefined;
    return new monitor.ActionGroup(
      `${name}-action-group`,
      {
        resourceGroupName: args.resourceGroupName,
        location: 'Global',
        groupShortName: 'billing',
        enabled: true,
        emailReceivers: emails.map((emailAddress, index) => ({
          name: `email-${index + 1}`,
          emailAddress,
          useCommonAlertSchema: true,
        })),
        ...(args.tags === undefined ? {} : { tags: args.tags }),
      },
      { parent: this },
    );
  }

  private context(name: string, args: BillingMonitoringArgs): AlertContext {
    const page = [...(this.actionGroup === undefined ? [] : [this.actionGroup.id]), ...(args.actionGroupIds ?? [])];
    if (page.length === 0) {
      pulumi.log.warn(
        'The alerts have no action, so nobody is told when billing stands still: give alertEmails or actionGroupIds.',
        this,
      );
    }
    return {
      name,
      resourceGroupName: args.resourceGroupName,
      tags: args.tags,
      groups: { page, warn: args.warningActionGroupIds ?? page },
      options: { parent: this },
    };
  }

  private createWorkbook(name: string, args: BillingMonitoringArgs): applicationinsights.Workbook {
    return new applicationinsights.Workbook(
      `${name}-workbook`,
      {
        resourceGroupName: args.resourceGroupName,
        // Azure takes a UUID for a workbook's name and nothing else.
        resourceName: nameUuid(pulumi.getProject(), pulumi.getStack(), name, 'workbook'),
        kind: applicationinsights.WorkbookSharedTypeKind.Shared,
        category: 'workbook',
        // Names of workbooks are unique in a resource group, and stacks may share one.
        displayName: `${name}: billing (${pulumi.getStack()})`,
        // Azure answers in lower case: another spelling would be a change at every refresh.
        sourceId: pulumi.output(args.workspaceId).apply((id) => id.toLowerCase()),
        version: 'Notebook/1.0',
        serializedData: serialized(
          name,
          args,
          Object.values(this.alerts).map((alert) => alert.id),
        ),
        ...(args.tags === undefined ? {} : { tags: args.tags }),
      },
      { parent: this },
    );
  }
}

function createLogAlerts(
  { consumer, eventHub, lagMinutes, workspaceId }: BillingMonitoringArgs,
  context: AlertContext,
  wanted: (spec: AlertSpec) => boolean,
) {
  if (consumer === undefined) return [];
  const { app, logTable: table, metricsService: service } = consumer;
  const limits = lagLimits(lagMinutes ?? DEFAULT_LAG_MINUTES, eventHub?.retentionHours);
  return workerAlerts(limits)
    .filter(wanted)
    .map((spec) => {
      // An alert that takes silence for a fault begins when there can be something to hear.
      const options = spec.name === 'workersGone' ? { ...context.options, dependsOn: [app] } : context.options;
      return [spec.name, createLogAlert(spec, { ...context, options, workspaceId, table, service })] as const;
    });
}

function resourceAlerts({ consumer, eventHub, checkpointStore, ledger }: BillingMonitoringArgs): MetricAlertSpec[] {
  return [
    ...(consumer === undefined ? [] : appAlerts(consumer)),
    ...(eventHub === undefined ? [] : eventHubAlerts(eventHub)),
    ...(checkpointStore === undefined ? [] : checkpointStoreAlerts(checkpointStore)),
    ...(ledger === undefined ? [] : ledgerAlerts(ledger, consumer?.maxReplicas ?? 1)),
  ];
}

function serialized(
  name: string,
  { workspaceId, consumer, eventHub, checkpointStore, ledger }: BillingMonitoringArgs,
  ruleIds: readonly pulumi.Output<string>[],
): pulumi.Output<string> {
  return pulumi
    .output({
      workspaceId,
      ruleIds,
      consumer: consumer && {
        lines: { table: consumer.logTable, service: consumer.metricsService },
        appId: consumer.app.id,
        opsCommand: consumer.opsCommand,
      },
      eventHub: eventHub && { namespaceId: eventHub.namespaceId, hub: eventHub.eventHub.name },
      checkpointStore: checkpointStore && { accountId: checkpointStore.accountId },
      ledger: ledger && { serverId: ledger.serverId },
    })
    .apply((parts) => workbookContent({ name, ...parts } as Parameters<typeof workbookContent>[0]));
}
