/** The dashboard as CloudWatch gets it: JSON of a modest size that a person can read from top to bottom. */
import type { Stack } from 'aws-cdk-lib';
import { describe, expect, it } from 'vitest';
import { BillingMonitoring } from '../../constructs/aws';
import { ALARM_TEXTS } from '../../constructs/shared/alarm-texts';
import { METRICS, METRICS_BY_LABEL, METRICS_NAMESPACE } from '../../runtime/contract';
import { monitored } from './monitored';
import { consumerStack, only, resources } from './stack';

interface Widget {
  readonly type: 'text' | 'alarm' | 'metric';
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly properties: {
    readonly title?: string;
    readonly markdown?: string;
    readonly alarms?: readonly string[];
    readonly metrics?: readonly (readonly unknown[])[];
    readonly yAxis?: { readonly left?: { readonly label?: string; readonly min?: number } };
    readonly annotations?: { readonly horizontal: readonly { readonly label: string; readonly value: number }[] };
  };
}

/** Every reference is replaced by its text without quotes, as a name would be. */
function widgetsOf(stack: Stack): Widget[] {
  return (JSON.parse(bodyOf(stack)) as { widgets: Widget[] }).widgets;
}

function bodyOf(stack: Stack): string {
  const { DashboardBody } = only(stack, 'AWS::CloudWatch::Dashboard').Properties;
  const parts = DashboardBody['Fn::Join'][1] as unknown[];
  return parts
    .map((part) => (typeof part === 'string' ? part : JSON.stringify(part).replaceAll(/["{}[\]]/g, '')))
    .join('');
}

const titles = (widgets: readonly Widget[]) => widgets.map(({ properties: { title } }) => title);
const graphs = (widgets: readonly Widget[]) => widgets.filter(({ type }) => type === 'metric');

describe('the dashboard', () => {
  const { stack, consumer, monitoring } = monitored();
  const widgets = widgetsOf(stack);

  it('begins with what to do and with the state of every alarm, the one that pages first', () => {
    const [help, state] = widgets as [Widget, Widget];
    expect([help.type, help.y, state.type]).toEqual(['text', 0, 'alarm']);
    expect(help.properties.markdown).toContain('docs/operations.md');
    expect(help.properties.markdown).toMatch(/```\naws ecs run-task .*--help.* && aws logs tail .*\n```/);
    expect(stack.resolve(consumer.opsTask.command)).toBeDefined();
    expect(state.properties.alarms?.[0]).toMatch(/MonitoringPage/);
    expect(state.properties.alarms).toHaveLength(1 + Object.keys(monitoring.alarms).length);
  });

  it('follows the journey, three graphs a row', () => {
    expect(titles(graphs(widgets))).toEqual([
      ...['Lag', 'Deliveries', 'Refused by the stream'],
      ...['Leases', 'Renewals and checkpoints', 'Lease table'],
      ...['Charges by outcome', 'For a person to look at', 'Outcome not known'],
      ...['Requests to Stripe', 'Charges in flight', 'Key refused'],
      ...['Ledger: statements', 'Ledger: load', 'Ledger: free space'],
      ...['Workers', 'Memory and CPU of the tasks', 'Event loop'],
    ]);
    expect(graphs(widgets).map(({ x }) => x)).toEqual(Array.from({ length: 18 }, (_, index) => 8 * (index % 3)));
  });

  it('has a unit and a name for every line of every graph', () => {
    for (const { properties } of graphs(widgets)) {
      expect(properties.yAxis?.left).toMatchObject({ label: expect.stringMatching(/./), min: 0 });
      expect(properties.metrics?.length).toBeGreaterThan(0);
      const drawn = (properties.metrics ?? []).map((metric) => metric.at(-1) as { label?: string; visible?: boolean });
      for (const line of drawn.filter(({ visible }) => visible !== false)) expect(line.label).toMatch(/./);
    }
  });

  it('shows only metrics of the runtime that the runtime has', () => {
    const known: string[] = [...Object.values(METRICS), ...Object.values(METRICS_BY_LABEL)].map(({ emf }) => emf);
    const shown = graphs(widgets)
      .flatMap(({ properties }) => properties.metrics ?? [])
      .filter(([namespace]) => namespace === METRICS_NAMESPACE);
    expect(shown.length).toBeGreaterThan(25);
    for (const [, name, dimension, service] of shown) {
      expect(known).toContain(name);
      expect([dimension, service]).toEqual(['Service', consumer.metricsService]);
    }
  });

  it('draws the limits of the alarms', () => {
    const drawn = graphs(widgets).flatMap(({ properties }) => properties.annotations?.horizontal ?? []);
    const limited = [
      ...(['lagWarning', 'lagCritical', 'renewalsSlow', 'checkpointStalled', 'ledgerCpuHigh'] as const),
      ...(['ledgerStorageLow', 'ledgerMemoryLow', 'workersGone', 'memoryHigh', 'eventLoopSlow'] as const),
    ];
    expect(drawn.map(({ label }) => label).sort()).toEqual(limited.map((name) => ALARM_TEXTS[name].title).sort());
    expect(drawn).toContainEqual(expect.objectContaining({ label: ALARM_TEXTS.lagWarning.title, value: 60_000 }));
  });

  it('stays small beside what a template may hold', () => {
    expect(JSON.stringify(resources(stack, 'AWS::CloudWatch::Dashboard')).length).toBeLessThan(20_000);
    expect(JSON.stringify(resources(stack, 'AWS::CloudWatch::Alarm')).length).toBeLessThan(30_000);
  });
});

describe('what the dashboard leaves out', () => {
  it('dashboard: false makes none', () => {
    const { stack, monitoring } = monitored({ props: { dashboard: false } });
    expect(monitoring.dashboard).toBeUndefined();
    expect(resources(stack, 'AWS::CloudWatch::Dashboard')).toEqual({});
  });

  it('graphs of parts that are not given, for CloudWatch refuses one without a metric', () => {
    const { stack, consumer } = consumerStack();
    new BillingMonitoring(stack, 'Monitoring', { consumer });
    const widgets = graphs(widgetsOf(stack));
    expect(titles(widgets)).not.toContain('Refused by the stream');
    expect(titles(widgets)).not.toContain('Ledger: load');
    expect(titles(widgets)).toContain('Ledger: statements');
    for (const { properties } of widgets) expect(properties.metrics?.length).toBeGreaterThan(0);
  });

  it('limits of alarms that are disabled', () => {
    const { stack } = monitored({ props: { disable: ['lagWarning'] } });
    expect(bodyOf(stack)).not.toContain(ALARM_TEXTS.lagWarning.title);
    expect(bodyOf(stack)).toContain(ALARM_TEXTS.lagCritical.title);
  });

  it('two of them in one stack do not share a name', () => {
    const { stack, consumer } = monitored();
    new BillingMonitoring(stack, 'Second', { consumer });
    const names = Object.values(resources(stack, 'AWS::CloudWatch::Dashboard')).map(
      ({ Properties }) => Properties.DashboardName,
    );
    expect(names).toEqual([undefined, undefined]);
  });
});
