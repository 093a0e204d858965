/** `npm start` itself: its verdict, its counts for a given file, and that it fails when the stack is wrong. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv as parse } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { billingApp } from '../../stacks/aws/app';
import { faultsOf } from '../../stacks/local/faults/names';
import { SOURCE_NAMES } from '../../stacks/local/sources/parts';
import { forgetLogs, type LocalRun, localRun, startLocalRun } from '../support/local-run';

const MINUTE = 60_000;

/** stacks/azure, whose workers are told another cap. */
function cappedProgram(cap: string): string {
  const [pulumi, stack] = [require.resolve('@pulumi/pulumi'), join(__dirname, '../../stacks/azure/index.ts')];
  return `
    const pulumi = require(${JSON.stringify(pulumi)});
    const capped = (env) => env.map((each) => each.name === 'SPEND_CAP_DEFAULT' ? { ...each, value: '${cap}' } : each);
    const changed = ({ containers, ...template }) =>
      ({ ...template, containers: containers.map((each) => ({ ...each, env: capped(each.env) })) });
    pulumi.runtime.registerStackTransformation(({ type, props, opts }) => {
      if (type !== 'azure-native:app:ContainerApp') return undefined;
      return { props: { ...props, template: pulumi.output(props.template).apply(changed) }, opts };
    });
    require(${JSON.stringify(stack)});`;
}

function connects(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

describe('npm start', () => {
  let folder: string;
  let everyFault: Promise<LocalRun>;
  beforeAll(() => {
    // It mostly waits, for leases and claims of the dead to end: the other tests run meanwhile.
    everyFault = localRun();
    folder = mkdtempSync(join(tmpdir(), 'chargeonce-test-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const template = (change: (json: string) => string): string => {
    const json = JSON.stringify(billingApp(join(folder, 'cdk.out')).synth().stacks[0]?.template);
    const changed = change(json);
    expect(changed).not.toBe(json);
    const file = join(folder, 'template.json');
    writeFileSync(file, changed);
    return file;
  };

  it(
    'publishes the bytes of a file and ends every line as Stripe would',
    async () => {
      const event = (customer: string, more: object = {}) =>
        JSON.stringify({
          customer_id: customer,
          billing_period: '2026-10',
          stripe_customer_id: `cus_${customer}`,
          amount_cents: 500,
          ...more,
        });
      const file = join(folder, 'events.ndjson');
      const lines = [
        event('good'),
        event('good'),
        event('good', { amount_cents: 501 }),
        event('declined', { payment_method: 'pm_card_visa_chargeDeclined' }),
        event('authentication', { payment_method: 'pm_card_authenticationRequired' }),
        event('zero', { amount_cents: 0 }),
        event('tiny', { amount_cents: 1 }),
        event('rich', { billing_period: '2026-11', amount_cents: 4_999_999 }),
        event('over', { billing_period: '2026-11', amount_cents: 4_999_999 }),
        'not an event',
      ];
      writeFileSync(file, Buffer.concat([Buffer.from(`${lines.join('\n')}\n`), Buffer.from([0xff, 0xfe, 0x0a])]));
      const { code, report, screen } = await localRun('--file', file, '--faults', 'none');
      const ended = {
        published: 11,
        valid: 9,
        distinct: 7,
        charged: 2,
        declined: 2,
        actionRequired: 0,
        processing: 0,
        capBlocked: 1,
        rejected: 1,
        zeroAmount: 1,
        pending: 0,
        deadLettered: 2,
        conflicts: 1,
        doubleCharged: 0,
        lost: 0,
        faults: [],
      };
      expect(report?.sources, screen).toEqual(SOURCE_NAMES.map((source) => ({ source, ...ended })));
      expect(code).toBe(0);
    },
    4 * MINUTE,
  );

  it(
    'fails when the template names an environment variable otherwise',
    async () => {
      const failing = await localRun(
        '--faults',
        'none',
        '--template',
        template((json) => json.replaceAll('"LEASE_TABLE_NAME"', '"LEASE_TABLE"')),
      );
      forgetLogs(failing);
      const { code, report, screen } = failing;
      expect({ code, report }).toEqual({ code: 2, report: undefined });
      expect(screen).toContain('LEASE_TABLE_NAME');
    },
    2 * MINUTE,
  );

  it(
    'fails when the template names a key of the lease table otherwise',
    async () => {
      const failing = await localRun(
        '--faults',
        'none',
        '--template',
        template((json) => json.replaceAll('"leaseKey"', '"leaseId"')),
      );
      forgetLogs(failing);
      const { code, report, screen } = failing;
      expect({ code, report }).toEqual({ code: 2, report: undefined });
      expect(screen).toMatch(/not ready|ended/);
    },
    2 * MINUTE,
  );

  it(
    'fails when the template leaves out that tokens log in: the workers use nothing else',
    async () => {
      const failing = await localRun(
        '--faults',
        'none',
        '--template',
        template((json) => json.replace('"EnableIAMDatabaseAuthentication":true,', '')),
      );
      forgetLogs(failing);
      const { code, report, screen } = failing;
      expect({ code, report }).toEqual({ code: 2, report: undefined });
      expect(screen).toContain('PAM authentication failed for user');
    },
    2 * MINUTE,
  );

  it(
    'fails when the program gives its workers another cap: they run with what it declares',
    async () => {
      const program = join(folder, 'program.js');
      writeFileSync(program, cappedProgram('usd:100'));
      const failing = await localRun('--events', '12', '--faults', 'none', '--program', program);
      forgetLogs(failing);
      const { code, report, screen } = failing;
      expect({ code, verdict: report?.verdict }, screen).toEqual({ code: 1, verdict: 'fail' });
      expect(report?.sources).toMatchObject([{ source: 'event-hubs', distinct: 10, lost: 0, doubleCharged: 0 }]);
      expect(report?.sources[0]?.capBlocked).toBeGreaterThan(0);
      expect(report?.problems.join()).toMatch(/\(customer, period\) are charged; of these events it must be 10/);
    },
    4 * MINUTE,
  );

  it(
    'stays up with --keep, says where everything is, and leaves nothing behind when it is stopped',
    async () => {
      const { ended, printed, stop } = startLocalRun('--events', '5', '--faults', 'none', '--keep');
      await printed('End with Ctrl-C');
      const [kinesis, hubs] = SOURCE_NAMES.map((source) => {
        const file = join(__dirname, `../../.env.${source}.local`);
        const environment = parse(readFileSync(file, 'utf8'));
        rmSync(file);
        return environment;
      });
      const common = { STRIPE_MODE: 'test', PGSSLMODE: 'verify-full' };
      expect(kinesis).toMatchObject({ ...common, SOURCE: 'kinesis', DATABASE_AUTH: 'rds-iam' });
      expect(hubs).toMatchObject({ ...common, SOURCE: 'event-hubs', DATABASE_AUTH: 'entra' });
      const stream = new URL(kinesis?.AWS_ENDPOINT_URL_KINESIS ?? '');
      const storage = Number(new URL(hubs?.CHECKPOINT_CONTAINER_URL ?? '').port);
      await expect(fetch(stream)).resolves.toBeDefined();
      await expect(connects(storage)).resolves.toBe(true);
      stop();
      const { code, report, screen } = await ended;
      expect({ code, verdict: report?.verdict }, screen).toEqual({ code: 0, verdict: 'pass' });
      await expect(fetch(stream)).rejects.toThrow();
      await expect(connects(storage)).resolves.toBe(false);
    },
    4 * MINUTE,
  );

  it(
    'says what is wrong with its flags',
    async () => {
      const { code, screen } = await localRun('--events', 'many', '--faults', 'earthquake', '--file', 'nowhere');
      expect(code).toBe(2);
      expect(screen).toContain('--events was "many"');
      expect(screen).toContain('"earthquake" is unknown');
      expect(screen).toContain('there is no file "nowhere"');
    },
    2 * MINUTE,
  );

  it(
    'survives every fault: charged once, nothing twice, nothing lost',
    async () => {
      const { code, report, screen } = await everyFault;
      expect({ code, problems: report?.problems, screen: code === 0 ? '' : screen }).toEqual({
        code: 0,
        problems: [],
        screen: '',
      });
      expect(report?.sources.map(({ source }) => source)).toEqual(SOURCE_NAMES);
      for (const { source, faults, ...counts } of report?.sources ?? []) {
        expect(counts, source).toMatchObject({ distinct: 250, pending: 0, doubleCharged: 0, lost: 0, conflicts: 3 });
        expect(counts.charged + counts.declined, source).toBe(250);
        expect(faults.map((fault) => fault.name).sort()).toEqual([...faultsOf(source)].sort());
        for (const fault of faults) {
          expect(fault.injected, `${source}: ${fault.name}`).toBeGreaterThan(0);
          expect(fault.seen, `${source}: ${fault.name}`).toBeGreaterThanOrEqual(fault.injected);
        }
      }
    },
    5 * MINUTE,
  );
});
