/**
 * An alarm that no metric feeds is silence. Every alarm on the runtime's own metrics is held against the lines that the
 * bundle really prints: none would go off while all is well, and each goes off in the run that has its fault.
 */
import { Duration } from 'aws-cdk-lib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BillingMonitoring, LeaseTable } from '../../constructs/aws';
import { METRICS_NAMESPACE } from '../../runtime/contract';
import { systemHost } from '../../runtime/host';
import { SCHEMA_VERSION } from '../../runtime/ledger';
import { packageVersion } from '../../runtime/ops/version';
import type { Worker } from '../../stacks/local/workers';
import { consumerStack, container } from '../aws/stack';
import { type Alarm, alarmsOf, breaches, watches } from '../support/alarms';
import { type AwsFaultProxy, startAwsFaultProxy } from '../support/aws-fault-proxy';
import { type AwsLocal, leaseItems, put, putItem, startAwsLocal } from '../support/aws-local';
import { type Figure, figuresOf } from '../support/emf';
import { type PostgresProxy, startPostgresProxy } from '../support/postgres-proxy';
import { until } from '../support/until';
import { type WorkerWorld, workerWorld } from '../support/worker-world';

const LEASE_MS = 10_000;
const KEY = 'rk_test_alarms_world_0123456789';
/** Fifteen minutes of standstill are not waited for: that the figure grows is shown instead. */
const TOO_SLOW_FOR_A_TEST = ['CheckpointStall'];

/** The alarms of a stack whose lease is the world's, and what its worker is told. */
function deployed(): { alarms: Alarm[]; environment: Record<string, string> } {
  const { stack, consumer } = consumerStack((props, scope) => ({
    ...props,
    leaseTable: new LeaseTable(scope, 'Table', { leaseDuration: Duration.millis(LEASE_MS) }),
  }));
  new BillingMonitoring(stack, 'Monitoring', { consumer });
  const { METRICS_FORMAT, METRICS_NAMESPACE: namespace, METRICS_SERVICE } = container(stack, 'worker').environment;
  return {
    alarms: alarmsOf(stack).filter((alarm) => alarm.namespace === METRICS_NAMESPACE),
    environment: { METRICS_FORMAT, METRICS_NAMESPACE: namespace, METRICS_SERVICE } as Record<string, string>,
  };
}

/** Alarms that none of these figures feeds. */
const unfed = (alarms: readonly Alarm[], figures: readonly Figure[]) =>
  alarms.filter((alarm) => !figures.some((figure) => watches(alarm, figure))).map((alarm) => alarm.metric);

/** Metrics of the alarms that one of these figures sets off. */
const raised = (alarms: readonly Alarm[], figures: readonly Figure[]) =>
  alarms
    .filter((alarm) => figures.some((figure) => watches(alarm, figure) && breaches(alarm, figure.value)))
    .map((alarm) => alarm.metric)
    .sort();

class FaultedRun {
  readonly healthy: Figure[];
  private constructor(
    private readonly aws: AwsLocal,
    readonly world: WorkerWorld,
    readonly worker: Worker,
    private readonly table: AwsFaultProxy,
    private readonly database: PostgresProxy,
  ) {
    this.healthy = this.figures();
  }

  /** Ends when a line is written after one customer was charged, with nothing wrong. */
  static async start(aws: AwsLocal, environment: Record<string, string>): Promise<FaultedRun> {
    const table = await startAwsFaultProxy({ target: aws.dynamodbEndpoint });
    const world = await workerWorld(aws, { shards: 2, dynamodbEndpoint: table.endpoint });
    const database = await startPostgresProxy(world.database.url);
    const worker = await world.startWorker({
      ...environment,
      METRICS_INTERVAL_MS: '4000',
      DATABASE_URL: database.url,
      LEASE_DURATION_MS: String(LEASE_MS),
      STRIPE_API_KEY: KEY,
      SPEND_CAP_DEFAULT: 'usd:100000',
    });
    await worker.ready(30_000);
    await world.publish([{ customer: 'good' }]);
    await world.charged(1);
    const lines = () => world.output(worker).filter((line) => line.includes('"_aws"')).length;
    const before = lines();
    await until('a line of metrics is written', () => lines() > before);
    return new FaultedRun(aws, world, worker, table, database);
  }

  figures(): Figure[] {
    return this.world.output(this.worker).flatMap(figuresOf);
  }

  /** Waits until the worker says at /metrics that it has seen the fault. */
  async seen(metric: string, more: (value: number) => boolean = (value) => value > 0): Promise<void> {
    await until(`${metric} shows the fault`, async () => more((await this.worker.metric(metric)) ?? 0), 60_000);
  }

  async badEvents(): Promise<void> {
    const { world, aws } = this;
    world.stripe.customers.create({ id: 'cus_poor', defaultPaymentMethod: null });
    world.stripe.faults.add({ on: 'confirm', when: 'before-respond', what: 'wrong-shape' });
    await world.publish([
      { customer: 'poor' },
      { customer: 'good', amount: 501 },
      { customer: 'rich', period: '2026-11', amount: 100_001 },
      { customer: 'odd', period: '2026-12' },
    ]);
    await put(aws.kinesis, world.name, 'key', 'no event');
    await this.seen('chargeonce_alarms_total');
    await this.seen('chargeonce_conflicts_total');
    await this.seen('chargeonce_dead_letters_total');
    for (const status of ['rejected', 'cap_blocked']) {
      await until(`a charge is ${status}`, async () => (await world.statuses())[status] === 1);
    }
  }

  async slowTable(): Promise<void> {
    const throttle = this.table.inject({ operation: 'UpdateItem', action: { kind: 'throttle' } });
    await systemHost.sleep(0.7 * LEASE_MS);
    throttle.remove();
    await this.seen('chargeonce_lease_renewal_ms', (ms) => ms > LEASE_MS / 3);
  }

  async standstill(): Promise<void> {
    process.kill(this.worker.pid, 'SIGSTOP');
    await systemHost.sleep(0.25 * LEASE_MS);
    process.kill(this.worker.pid, 'SIGCONT');
    await this.seen('chargeonce_event_loop_delay_ms', (ms) => ms > LEASE_MS / 5);
  }

  async silentLedger(): Promise<void> {
    this.database.loseAnswerTo('claim_due');
    await this.seen('chargeonce_ledger_failures_total');
  }

  async stuckRow(): Promise<void> {
    await this.world.database.query(
      `INSERT INTO billing_records (customer_id, billing_period, stripe_customer_id, amount_cents, currency, status,
         idempotency_key, claimed_by, claim_expires_at, first_attempted_at)
       VALUES ('stuck', '2026-10', 'cus_stuck', 1, 'usd', 'pending', 'k', 'somebody', now() + interval '1 hour',
         now() - interval '1 hour')`,
    );
    await this.seen('chargeonce_unresolved_rows');
  }

  /** Another event waits from then on, on either shard. */
  async refusedKey(): Promise<void> {
    this.world.stripe.keys.set(KEY, { state: 'revoked' });
    await this.world.publish([{ customer: 'late' }]);
    await this.seen('chargeonce_halted');
    await this.seen('chargeonce_checkpoint_stall_ms');
  }

  /** A worker that is gone at once takes a lease; a migration marker keeps ours from taking it back. */
  async stolenLease(): Promise<void> {
    const { aws, world } = this;
    const marker = { leaseKey: { S: 'Migration3.0' }, cv: { S: 'CLIENT_VERSION_3X' } };
    await putItem(aws.dynamodb, world.name, marker);
    await this.seen('chargeonce_lease_table_foreign_items');
    const [lease] = [...(await leaseItems(aws.dynamodb, world.name)).values()].filter((item) => item.leaseOwner);
    const counter = { N: String(Number(lease?.leaseCounter?.N) + 100) };
    await putItem(aws.dynamodb, world.name, { ...lease, leaseOwner: { S: 'thief' }, leaseCounter: counter });
    await this.seen('chargeonce_leases_lost_total');
    await this.seen('chargeonce_leases_unowned');
  }

  async end(): Promise<void> {
    await this.world.close();
    await this.table.stop();
    await this.database.stop();
  }
}

describe('the alarms on the runtime’s own metrics', () => {
  const { alarms, environment } = deployed();
  let aws: AwsLocal;
  let run: FaultedRun;
  beforeAll(async () => {
    aws = await startAwsLocal();
    run = await FaultedRun.start(aws, environment);
  }, 150_000);
  afterAll(async () => {
    await run?.end();
    await aws?.stop();
  });

  it('are each fed by a line that the bundle prints, in which nothing is wrong', () => {
    expect(alarms.length).toBeGreaterThanOrEqual(14);
    expect(unfed(alarms, run.healthy)).toEqual([]);
    expect(raised(alarms, run.healthy)).toEqual([]);
  });

  it('are fed with the version and the schema of what printed them', async () => {
    const [line] = run.world.output(run.worker).filter((each) => each.includes('"_aws"'));
    expect(JSON.parse(line ?? '')).toMatchObject({ Version: packageVersion(), SchemaVersion: String(SCHEMA_VERSION) });
    const labels = { version: packageVersion(), schema: String(SCHEMA_VERSION) };
    expect(await run.worker.metric('chargeonce_build_info', labels)).toBe(1);
  });

  it('twin: one with another name, dimension or service is fed by nothing', () => {
    const [alarm] = alarms as [Alarm];
    for (const wrong of [
      { metric: `${alarm.metric}s` },
      { namespace: 'Chargeonce' },
      { dimensions: {} },
      { dimensions: { Service: 'another' } },
      { dimensions: { ...alarm.dimensions, Customer: 'c1' } },
    ]) {
      expect(unfed([{ ...alarm, ...wrong }], run.healthy)).toHaveLength(1);
    }
  });

  it('each go off in the run that has its fault', { timeout: 240_000 }, async () => {
    await run.badEvents();
    await run.slowTable();
    await run.standstill();
    await run.silentLedger();
    await run.stuckRow();
    await run.refusedKey();
    await run.stolenLease();
    expect((await run.worker.stop(30_000)).code).toBe(0);
    const faulted = run.figures().slice(run.healthy.length);
    const provable = alarms.filter(({ metric }) => !TOO_SLOW_FOR_A_TEST.includes(metric));
    expect(raised(alarms, faulted)).toEqual(provable.map(({ metric }) => metric).sort());
    for (const name of TOO_SLOW_FOR_A_TEST) {
      expect(Math.max(...faulted.filter((figure) => figure.name === name).map(({ value }) => value))).toBeGreaterThan(
        0,
      );
    }
  });
});
