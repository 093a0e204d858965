import { Annotations, Aspects, CfnResource, Duration, Names, Token } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as ecs from 'aws-cdk-lib/aws-ecs';
import { Construct, type IConstruct } from 'constructs';
import { ALARM_NAMES, type AlarmName } from '../../shared/alarm-texts';
import { wrongProp } from '../../shared/check';
import { checkNeeded } from '../needed-props';
import { type AlarmSpec, createAlarm, isPage } from './billing-monitoring-alarm';
import { serviceAlarms, workerAlarms } from './billing-monitoring-consumer';
import { dashboardRows } from './billing-monitoring-dashboard';
import { type LedgerFigures, ledgerAlarms, ledgerFigures } from './billing-monitoring-ledger';
import type { BillingMonitoringProps } from './billing-monitoring-props';
import { lagLimits, leaseTableAlarms, streamAlarms } from './billing-monitoring-source';

/** Alarms with real dimensions on every part that is given, one composite alarm that pages, and a dashboard. */
export class BillingMonitoring extends Construct {
  /** Every alarm that was made, by name. */
  readonly alarms: Readonly<Partial<Record<AlarmName, cloudwatch.Alarm>>>;
  /** In ALARM while any alarm of severity `page` is. This is the one to wake somebody with. */
  readonly page: cloudwatch.CompositeAlarm;
  /** Absent: `dashboard` is false. */
  readonly dashboard?: cloudwatch.Dashboard;
  private hasActions = false;

  /** @throws when `disable` names no alarm or leaves none that pages; when the lag would page before it warns, or too late */
  constructor(scope: Construct, id: string, props: BillingMonitoringProps) {
    super(scope, id);
    checkNeeded(this.node.path, props, ['consumer']);
    const disabled = props.disable ?? [];
    this.checkNames(disabled);
    const figures = props.ledger === undefined ? undefined : ledgerFigures(props.ledger);
    const specs = this.specsOf(props, figures).filter(({ name }) => !disabled.includes(name));
    this.alarms = Object.fromEntries(specs.map((spec) => [spec.name, createAlarm(this, spec)]));
    this.page = this.addPage(disabled);
    if (props.dashboard ?? true) this.dashboard = this.addDashboard(props, figures, specs);
    this.startAfter(props.consumer.service);
    this.addAlarmAction(...(props.alarmActions ?? []));
    this.warnIfNobodyIsPaged();
  }

  /** Tells these when the composite alarm goes to ALARM, and when it is OK again. */
  addAlarmAction(...actions: cloudwatch.IAlarmAction[]): void {
    if (actions.length === 0) return;
    this.hasActions = true;
    this.page.addAlarmAction(...actions);
    this.page.addOkAction(...actions);
  }

  private specsOf(props: BillingMonitoringProps, figures: LedgerFigures | undefined): AlarmSpec[] {
    const { consumer, stream, leaseTable } = props;
    const given = {
      ...(props.lagWarning === undefined ? {} : { warning: props.lagWarning }),
      ...(props.lagCritical === undefined ? {} : { critical: props.lagCritical }),
    };
    return [
      ...(stream === undefined ? [] : streamAlarms(stream, lagLimits(this.node.path, stream, given))),
      ...(leaseTable === undefined ? [] : leaseTableAlarms(leaseTable)),
      ...workerAlarms(consumer.metricsService, leaseTable?.leaseDuration),
      ...serviceAlarms({
        service: consumer.service,
        desiredCount: consumer.desiredCount,
        containerInsights: props.containerInsights ?? consumer.service.cluster.node.scope === consumer,
      }),
      ...(figures === undefined ? [] : ledgerAlarms(figures, consumer.desiredCount)),
    ];
  }

  private addPage(disabled: readonly AlarmName[]): cloudwatch.CompositeAlarm {
    const paging = Object.entries(this.alarms).filter(([name]) => isPage(name as AlarmName));
    if (paging.length === 0) {
      throw wrongProp({
        path: this.node.path,
        prop: 'disable',
        received: disabled.join(', '),
        allowed: `any but all of ${ALARM_NAMES.filter(isPage).join(', ')}`,
        wayOut: 'Nothing would ever page anybody: leave at least one of them, or leave this construct out.',
      });
    }
    return new cloudwatch.CompositeAlarm(this, 'Page', {
      // The CDK's own choice does not know the stack's name, so two stacks of one app would share it.
      compositeAlarmName: Names.uniqueResourceName(this, { maxLength: 200, separator: '-' }),
      alarmRule: cloudwatch.AlarmRule.anyOf(
        ...paging.map(([, alarm]) => cloudwatch.AlarmRule.fromAlarm(alarm, cloudwatch.AlarmState.ALARM)),
      ),
      alarmDescription:
        'Billing needs a person now: one of the alarms marked [page] is in ALARM. Its description says what it means and what to do first.',
    });
  }

  private addDashboard(
    { consumer, stream, leaseTable }: BillingMonitoringProps,
    figures: LedgerFigures | undefined,
    specs: readonly AlarmSpec[],
  ): cloudwatch.Dashboard {
    const alarms = [this.page, ...Object.values(this.alarms)];
    const given = { consumer, ...(stream && { stream }), ...(leaseTable && { leaseTable }) };
    return new cloudwatch.Dashboard(this, 'Dashboard', {
      defaultInterval: Duration.hours(3),
      widgets: dashboardRows({ ...given, figures, specs, alarms }) as cloudwatch.IWidget[][],
    });
  }

  /** Alarms that take silence for a fault begin when there can be something to hear: not before the service runs. */
  private startAfter(service: ecs.FargateService): void {
    const resource = service.node
      .findAll()
      .find((each) => CfnResource.isCfnResource(each) && each.cfnResourceType === 'AWS::ECS::Service');
    if (resource === undefined) return;
    for (const name of ['workersGone', 'lagWarning', 'lagCritical'] as const) {
      this.alarms[name]?.node.addDependency(resource);
    }
  }

  private checkNames(disabled: readonly string[]): void {
    const unknown = disabled.filter((name) => !Token.isUnresolved(name) && !ALARM_NAMES.includes(name as AlarmName));
    if (unknown.length === 0) return;
    throw wrongProp({
      path: this.node.path,
      prop: 'disable',
      received: unknown.join(', '),
      allowed: ALARM_NAMES.join(', '),
      wayOut: 'An alarm that is misspelled here would go on paging.',
    });
  }

  /** At synth: actions may be added until then. */
  private warnIfNobodyIsPaged(): void {
    Aspects.of(this).add({
      visit: (node: IConstruct) => {
        if (node !== this || this.hasActions) return;
        Annotations.of(this).addWarningV2(
          'chargeonce:nobody-is-paged',
          'The alarms have no action, so nobody is told when billing stands still: give alarmActions, or call addAlarmAction().',
        );
      },
    });
  }
}
