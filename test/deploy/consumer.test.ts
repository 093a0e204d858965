/**
 * The composed stacks, deployed: the bundle consumes on the deployed stream and table, under the deployed roles, while
 * IAM is enforced.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DescribeAlarmsCommand } from '@aws-sdk/client-cloudwatch';
import { RunTaskCommand } from '@aws-sdk/client-ecs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { METRICS_BY_LABEL } from '../../runtime/contract';
import type { Worker } from '../../stacks/local/workers';
import { until } from '../support/until';
import { type AwsClients, awsClients } from './clients';
import { DeployedWorld, ON_CALL } from './deployed-world';
import { ACCOUNT } from './emulator';
import { assumeRole } from './identity';
import { metricsOf, send, startPager } from './paging';
import { misfits } from './read-back/expect-deployed';
import { type Names, namesOf, PERMISSIONS, refusal } from './refused';
import { checkpointsOf, isPassed, recordsOf, type StreamRecord } from './stream-state';

const roleArn = (name: string) => `arn:aws:iam::${ACCOUNT}:role/${name}`;
const METERING = roleArn('metering');
const ON_CALL_ROLE = roleArn(ON_CALL);
const CUSTOMERS = Array.from({ length: 12 }, (_, index) => `customer-${index + 1}`);

const event = (customer: string, period: string, amount = 500) =>
  JSON.stringify({
    customer_id: customer,
    billing_period: period,
    stripe_customer_id: `cus_${customer.replaceAll('-', '')}`,
    amount_cents: amount,
  });

describe('network, data and compute in stacks of their own', () => {
  const assembly = DeployedWorld.assemble();
  let world: DeployedWorld;
  let names: Names;

  beforeAll(async () => {
    world = await DeployedWorld.start(assembly);
    names = await namesOf(world);
  }, 240_000);

  afterAll(async () => {
    await world?.close();
    assembly.remove();
  });

  const records = () => recordsOf(world.deployment.clients, names.stream);
  const checkpoints = () => checkpointsOf(world.deployment.clients, names.table);
  const charged = () => world.postgres.asProvider("SELECT * FROM billing_records WHERE status = 'charged'");
  const writesToStripe = () => world.stripe.requests.filter(({ method }) => method === 'POST');

  async function publish(lines: readonly string[]): Promise<void> {
    const file = join(world.deployment.aws.folder, 'events.ndjson');
    writeFileSync(file, `${lines.join('\n')}\n`);
    const arguments_ = ['publish', file, '--stream', names.stream];
    const { code, out, err } = await world.cli(METERING, arguments_);
    expect({ code, err, out }).toMatchObject({ code: 0, out: expect.stringContaining(`sent ${lines.length} of`) });
  }

  it.each(assembly.types)('%s: each one is what the templates say', async (type) => {
    expect(await misfits(Object.values(world.stacks), type)).toEqual([]);
  });

  describe('the deployed consumer', () => {
    let workers: Worker[];

    it('has its schema and its role made by the container that migrates', async () => {
      expect(await world.run('migrate')).toMatchObject({ code: 0, err: '' });
      const again = await world.run('migrate');
      expect(again.out).toMatch(/nothing to do[\s\S]*nothing to do/);
    });

    it('starts as many workers as are deployed, which log in by IAM and take the shards', async () => {
      const { properties } = await world.reading('AWS::ECS::Service');
      const started = Array.from({ length: Number(properties.DesiredCount) }, () => world.startWorker());
      workers = await Promise.all(started);
      await Promise.all(workers.map((worker) => worker.ready(60_000)));
      expect(world.rds.logins.map(({ user, refused }) => ({ user, refused }))).toContainEqual({
        user: 'chargeonce_worker',
        refused: undefined,
      });
    });

    it('charges each customer once for each period, whatever is published how often', async () => {
      const lines = CUSTOMERS.map((customer) => event(customer, '2026-10'));
      await publish([...lines, ...lines.slice(0, 6)]);
      await until('all are charged', async () => (await charged()).length === CUSTOMERS.length, 60_000);
      await publish(lines);
      await allPassed();
      expect(await charged()).toHaveLength(CUSTOMERS.length);
      expect(world.stripe.charges().map(({ customer }) => customer)).toHaveLength(CUSTOMERS.length);
      expect(new Set(world.stripe.charges().map(({ customer }) => customer)).size).toBe(CUSTOMERS.length);
    });

    describe('bug 27: one bad record blocked its shard until it expired', () => {
      const BAD = [event('customer-1', '2026-11', -5), 'this is no JSON', event('customer-2', '2026-11').slice(0, -9)];
      const after = CUSTOMERS.map((customer) => event(customer, '2026-12'));
      const badOnes = async () => (await records()).filter(({ data }) => BAD.includes(data));

      const parked = () =>
        world.postgres.asProvider("SELECT source_position, convert_from(body, 'UTF8') AS body FROM dead_letters");
      const passed = async () => {
        const reached = await checkpoints();
        return (await badOnes()).map((record) => isPassed(reached[record.shard], record));
      };

      it('as it does, and this test sees it, while the ledger cannot keep the bad record: nothing is lost', async () => {
        await world.postgres.asProvider(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql
          AS $$ BEGIN RAISE EXCEPTION 'no dead letter today'; END $$;
          CREATE TRIGGER refuse BEFORE INSERT ON dead_letters FOR EACH ROW EXECUTE FUNCTION refuse()`);
        try {
          await publish([...BAD, ...after]);
          await until('it is refused', () => world.logs().join().includes('no dead letter today'));
          expect(await passed()).toEqual(BAD.map(() => false));
          expect(await parked()).toEqual([]);
        } finally {
          await world.postgres.asProvider('DROP TRIGGER refuse ON dead_letters');
        }
      });

      it('parks what is no event, and charges what comes behind it in the same shard', async () => {
        await until('the events behind are charged', async () => (await charged()).length === 2 * CUSTOMERS.length);
        await until('all are parked', async () => (await parked()).length === BAD.length);
        expect((await parked()).map(({ body }) => body).sort()).toEqual([...BAD].sort());
        const positions = (await badOnes()).map(({ sequenceNumber }) => sequenceNumber);
        const kept = (await parked()).map((row) => String(row.source_position).match(/\d{20,}/)?.[0]);
        expect(kept.sort()).toEqual(positions.sort());
      });

      it('and the checkpoint of its shard passes it', async () => {
        await allPassed();
        expect(await passed()).toEqual(BAD.map(() => true));
        const [bad] = await badOnes();
        const behind = (await records()).filter(({ shard, data }) => shard === bad!.shard && after.includes(data));
        expect(behind.length).toBeGreaterThan(0);
      });
    });

    it('holds back what would exceed the cap of its period', async () => {
      const [held] = CUSTOMERS;
      await publish([event(held!, '2027-01', 40_000_01)]);
      await until('it is held back', async () => {
        const [row] = await world.postgres.asProvider(
          "SELECT status FROM billing_records WHERE billing_period = '2027-01'",
        );
        return row?.status === 'cap_blocked';
      });
    });

    it('stops in time, gives its leases back, and had nobody refuse it anything', async () => {
      const exits = await Promise.all(workers.map((worker) => worker.stop(60_000)));
      expect(exits).toEqual(workers.map(() => ({ code: 0, signal: null })));
      for (const worker of workers) expect(worker.tail()).toContain('drained');
    });
  });

  async function allPassed(): Promise<void> {
    const last = new Map<string, StreamRecord>((await records()).map((record) => [record.shard, record]));
    await until('every checkpoint is at the last record', async () => {
      const reached = await checkpoints();
      return [...last].every(([shard, record]) => isPassed(reached[shard], record));
    });
  }

  describe('the deployed alarms', () => {
    const composite = async () => {
      const command = new DescribeAlarmsCommand({ AlarmTypes: ['CompositeAlarm'] });
      return (await world.deployment.clients.cloudWatch.send(command)).CompositeAlarms![0]!;
    };

    it('page somebody for what the workers printed, and for nothing that another service prints', async () => {
      const { clients } = world.deployment;
      const pager = await startPager(clients, names.topic);
      try {
        const lines = world.logs().flatMap(metricsOf);
        expect(
          lines.filter(({ MetricName, Value }) => MetricName === METRICS_BY_LABEL.chargesCapBlocked.emf && Value! > 0),
        ).not.toEqual([]);
        for (const line of lines) await send(clients, { ...line, Dimensions: [{ Name: 'Service', Value: 'another' }] });
        expect((await composite()).StateValue).not.toBe('ALARM');
        for (const line of lines) await send(clients, line);
        await until('the pager rings', () => pager.rang().length > 0);
        const { AlarmName, AlarmDescription } = await composite();
        expect(pager.rang()).toMatchObject([{ AlarmName, NewStateValue: 'ALARM', AlarmDescription }]);
      } finally {
        await pager.close();
      }
    });
  });

  describe('the ops task', () => {
    it('is started by the command that the deploy prints, by whom it was granted to, and nothing else is', async () => {
      const { ecs } = awsClients(world.deployment.aws.url, await assumeRole(world.deployment.clients, ON_CALL_ROLE));
      const command = world.stacks.Compute!.outputs.OpsCommand!;
      const flag = (name: string) => new RegExp(`--${name} '?([^' ]+)`).exec(command)![1]!;
      const [, subnets = '', securityGroups = ''] = /subnets=\[(.*?)\],securityGroups=\[(.*?)\]/.exec(command) ?? [];
      const task = {
        cluster: flag('cluster'),
        taskDefinition: flag('task-definition'),
        launchType: flag('launch-type') as 'FARGATE',
        networkConfiguration: {
          awsvpcConfiguration: { subnets: subnets.split(','), securityGroups: securityGroups.split(',') },
        },
        overrides: JSON.parse(/--overrides '(.*?)'/.exec(command)![1]!) as object,
      };
      const { tasks } = await ecs.send(new RunTaskCommand(task));
      expect(tasks).toHaveLength(1);
      const consumer = world.stacks.Compute!.ofType('AWS::ECS::TaskDefinition');
      for (const id of consumer) {
        const taskDefinition = world.stacks.Compute!.physicalIds[id]!;
        if (taskDefinition.includes(`/${task.taskDefinition}:`)) continue;
        expect(await refusal(ecs.send(new RunTaskCommand({ ...task, taskDefinition })))).toBeDefined();
      }
    });

    /** A row as a worker leaves it that was killed after its claim: the amount is held, Stripe knows nothing. */
    const LEFT = `WITH held AS (
        UPDATE spend_caps SET reserved_cents = reserved_cents + 700 WHERE billing_period = '2026-10' AND currency = 'eur')
      INSERT INTO billing_records (customer_id, billing_period, stripe_customer_id, amount_cents, currency, status,
        idempotency_key, reserved, claimed_by, claim_expires_at)
      VALUES ('left', '2026-10', 'cus_left', 700, 'eur', 'pending', 'key-of-left', true, 'gone', now())`;
    const left = () => world.postgres.asProvider("SELECT * FROM billing_records WHERE customer_id = 'left'");

    it('shows what is not finished, and neither writes to Stripe nor changes a row', async () => {
      await world.postgres.asProvider(LEFT);
      const [before, requests] = [await left(), writesToStripe().length];
      const { code, out, err } = await world.run('ops', ['reconcile']);
      expect({ code, err }).toEqual({ code: 1, err: '' });
      expect(out).toMatch(/^left +2026-10 +700 eur +pending/m);
      expect(await left()).toEqual(before);
      expect(writesToStripe()).toHaveLength(requests);
    });

    it('finishes it when it is told to', async () => {
      const { code, out } = await world.run('ops', ['reconcile', '--apply']);
      expect({ code, out }).toEqual({ code: 0, out: 'Taken 1, ended 1.\n' });
      expect(await left()).toMatchObject([{ status: 'charged', amount_cents: '700' }]);
    });

    it('consumes nothing when somebody asks it to: it knows no stream', async () => {
      const before = await checkpoints();
      const { code, err } = await world.run('ops', ['consume']);
      expect(code).toBe(2);
      expect(err).toContain('STREAM_NAME');
      expect(await checkpoints()).toEqual(before);
    });

    it('consumes nothing when it is told the stream and table either: its role is refused', async () => {
      const [before, requests] = [await checkpoints(), writesToStripe().length];
      const worker = await world.startWorker('ops', {
        ...{ SOURCE: 'kinesis', STREAM_NAME: names.stream, LEASE_TABLE_NAME: names.table },
      });
      await until('it is refused', () => worker.tail().includes('AccessDenied'));
      expect((await worker.stop(60_000)).signal).toBe(null);
      expect(await checkpoints()).toEqual(before);
      expect(writesToStripe()).toHaveLength(requests);
    });
  });

  describe.each(Object.entries(PERMISSIONS))('%s', (_, { container, execution, may, not }) => {
    let role: AwsClients;
    beforeAll(async () => {
      const { taskRoleArn, executionRoleArn } = await world.container(container);
      const { clients, aws } = world.deployment;
      role = awsClients(aws.url, await assumeRole(clients, execution ? executionRoleArn : taskRoleArn));
    });

    it.each(Object.keys(may))('may %s', async (call) => {
      expect(await refusal(may[call]!(role, names))).toBeUndefined();
    });

    it.each(Object.keys(not))('may not %s', async (call) => {
      expect(await refusal(not[call]!(role, names))).toBeDefined();
    });
  });
});
