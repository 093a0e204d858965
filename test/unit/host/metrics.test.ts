import { describe, expect, test } from 'vitest';
import { METRICS, METRICS_BY_LABEL } from '../../../runtime/contract';
import { createMetrics, writeMetricsLines } from '../../../runtime/host';
import { FakeHost } from '../../support/fake-host';

describe('metrics', () => {
  test('every one of the contract is there from the start, with those of the process', async () => {
    const text = await createMetrics().text();
    for (const { prom } of Object.values(METRICS)) expect(text).toContain(`# TYPE ${prom} `);
    expect(text).toContain('process_resident_memory_bytes');
    expect(text).toContain('nodejs_eventloop_lag_p99_seconds');
  });

  test('are counted by label, and gauges keep the last value', async () => {
    const metrics = createMetrics();
    metrics.count('charges', { status: 'charged' });
    metrics.count('charges', { status: 'charged' }, 2);
    metrics.count('charges', { status: 'card_declined' });
    metrics.gauge('leasesHeld', 4);
    metrics.gauge('leasesHeld', 3);
    const text = await metrics.text();
    expect(text).toContain('chargeonce_charges_total{status="charged"} 3');
    expect(text).toContain('chargeonce_charges_total{status="card_declined"} 1');
    expect(text).toContain('chargeonce_leases_held 3');
  });

  test('a label that the contract does not know never throws in the middle of a charge', async () => {
    const metrics = createMetrics();
    metrics.count('conflicts', { customer: 'c1' });
    metrics.count('charges', {});
    const text = await metrics.text();
    expect(text).toContain('chargeonce_conflicts_total 1');
    expect(text).not.toContain('c1');
  });

  test('a gauge is not counted and a counter not set', () => {
    const metrics = createMetrics();
    expect(() => metrics.count('leasesHeld')).toThrow('leasesHeld is a gauge');
    expect(() => metrics.gauge('charges', 1)).toThrow('charges is a counter');
  });

  test('say what runs', async () => {
    const metrics = createMetrics({ version: '1.2.3', schema: '19' });
    expect(await metrics.text()).toContain('chargeonce_build_info{version="1.2.3",schema="19"} 1');
  });

  test('an observed gauge is asked for each scrape and each line', async () => {
    const metrics = createMetrics();
    let ready = 0;
    metrics.observe('ready', () => ready);
    expect(await metrics.text()).toContain('chargeonce_ready 0');
    ready = 1;
    expect(await metrics.text()).toContain('chargeonce_ready 1');
    expect(metrics.drain().Ready).toBe(1);
  });

  test('a process that stood still says how long, once to the line and once to the scrape', async () => {
    const metrics = createMetrics();
    await new Promise((resolve) => setTimeout(resolve, 50));
    const until = performance.now() + 200;
    while (performance.now() < until);
    await new Promise((resolve) => setTimeout(resolve, 50));
    const [first, second] = [metrics.drain().EventLoopDelay!, metrics.drain().EventLoopDelay!];
    expect(first).toBeGreaterThan(100);
    expect(second).toBeLessThan(first);
    const [, scraped] = /^chargeonce_event_loop_delay_ms (\d+)$/m.exec(await metrics.text()) ?? [];
    expect(Number(scraped)).toBeGreaterThan(100);
  });

  test('two sets do not share a registry', async () => {
    const [one, other] = [createMetrics(), createMetrics()];
    one.count('conflicts');
    expect(await other.text()).toContain('chargeonce_conflicts_total 0');
  });
});

describe('metrics as lines', () => {
  async function lines(format: 'emf' | 'json') {
    const host = new FakeHost();
    const metrics = createMetrics({ version: '1.2.3', schema: '19' });
    const written: string[] = [];
    const controller = new AbortController();
    const options = {
      format,
      namespace: 'billing',
      service: 'usage',
      metrics,
      host,
      write: (line: string) => written.push(line),
    };
    const running = writeMetricsLines(options, controller.signal);
    metrics.count('charges', { status: 'charged' }, 2);
    metrics.count('charges', { status: 'rejected' });
    metrics.gauge('leasesHeld', 5);
    metrics.count('stripeCalls', { endpoint: 'confirm', answer: 'busy_rate' });
    metrics.count('stripeCalls', { endpoint: 'create', answer: 'intent' });
    metrics.gauge('leaseRenewalTime', 40);
    metrics.gauge('leaseRenewalTime', 7);
    await host.advance(60_000);
    metrics.count('charges', { status: 'charged' });
    controller.abort();
    await running;
    return written.map((line) => JSON.parse(line));
  }

  test('EMF names each metric with its namespace, one dimension and its value since the last line', async () => {
    const [first, last, ...rest] = await lines('emf');
    expect(rest).toEqual([]);
    const { Namespace, Dimensions, Metrics } = first._aws.CloudWatchMetrics[0];
    expect({ Namespace, Dimensions, Service: first.Service }).toEqual({
      Namespace: 'billing',
      Dimensions: [['Service']],
      Service: 'usage',
    });
    const names = [...Object.values(METRICS), ...Object.values(METRICS_BY_LABEL)].map(({ emf }) => emf);
    expect(Metrics.map(({ Name }: { Name: string }) => Name)).toEqual(names);
    expect(new Set(names).size).toBe(names.length);
    for (const { Name } of Metrics) expect(first[Name]).toBeTypeOf('number');
    expect(first).toMatchObject({ Charges: 3, LeasesHeld: 5, Conflicts: 0 });
    // The last line, written at the end, has only what came since; a gauge stands as it is.
    expect(last).toMatchObject({ Charges: 1, LeasesHeld: 5 });
  });

  test('EMF has the values of a label that CloudWatch shall see as metrics of their own', async () => {
    const [first, last] = await lines('emf');
    expect(first).toMatchObject({ ChargesCharged: 2, ChargesRejected: 1, ChargesDeclined: 0, ChargesCapBlocked: 0 });
    expect(first).toMatchObject({ StripeCalls: 2, StripeRateLimited: 1, StripeServerErrors: 0, StripeNoAnswer: 0 });
    expect(last).toMatchObject({ ChargesCharged: 1, ChargesRejected: 0, StripeRateLimited: 0 });
  });

  test('a peak is the highest value since the line before', async () => {
    const [first, last] = await lines('emf');
    expect([first.LeaseRenewalTime, last.LeaseRenewalTime]).toEqual([40, 0]);
  });

  test('EMF is within CloudWatch’s rules, and the version is no dimension', async () => {
    const [first] = await lines('emf');
    const [{ Metrics, Dimensions }] = first._aws.CloudWatchMetrics;
    expect(Metrics.length).toBeLessThanOrEqual(100);
    expect(Number.isInteger(first._aws.Timestamp)).toBe(true);
    expect(first).toMatchObject({ Version: '1.2.3', SchemaVersion: '19' });
    expect(Dimensions).toEqual([['Service']]);
    const units = new Map(Metrics.map(({ Name, Unit }: { Name: string; Unit: string }) => [Name, Unit]));
    expect([units.get('Charges'), units.get('CheckpointStall')]).toEqual(['Count', 'Milliseconds']);
    expect(new Set(units.values())).toEqual(new Set(['Count', 'Milliseconds']));
  });

  test('JSON has the same figures', async () => {
    const [first] = await lines('json');
    expect(first).toMatchObject({ metrics: 'billing', service: 'usage', Charges: 3, LeasesHeld: 5 });
    expect(first).not.toHaveProperty('_aws');
  });
});
