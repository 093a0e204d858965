/** `npm start` itself: its verdict, its counts for a given file, and that it fails when the template is wrong. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv as parse } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { billingApp } from '../../stacks/aws/app';
import { FAULT_NAMES } from '../../stacks/local/faults/names';
import { type LocalRun, localRun, startLocalRun } from '../support/local-run';

const MINUTE = 60_000;

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
      expect(report?.sources[0], screen).toEqual({
        source: 'kinesis',
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
      });
      expect(code).toBe(0);
    },
    2 * MINUTE,
  );

  it(
    'fails when the template names an environment variable otherwise',
    async () => {
      const { code, report, screen } = await localRun(
        '--faults',
        'none',
        '--template',
        template((json) => json.replaceAll('"LEASE_TABLE_NAME"', '"LEASE_TABLE"')),
      );
      expect({ code, report }).toEqual({ code: 2, report: undefined });
      expect(screen).toContain('LEASE_TABLE_NAME');
    },
    MINUTE,
  );

  it(
    'fails when the template names a key of the lease table otherwise',
    async () => {
      const { code, report, screen } = await localRun(
        '--faults',
        'none',
        '--template',
        template((json) => json.replaceAll('"leaseKey"', '"leaseId"')),
      );
      expect({ code, report }).toEqual({ code: 2, report: undefined });
      expect(screen).toMatch(/not ready|ended/);
    },
    MINUTE,
  );

  it(
    'fails when the template leaves out that tokens log in: the workers use nothing else',
    async () => {
      const { code, report, screen } = await localRun(
        '--faults',
        'none',
        '--template',
        template((json) => json.replace('"EnableIAMDatabaseAuthentication":true,', '')),
      );
      expect({ code, report }).toEqual({ code: 2, report: undefined });
      expect(screen).toContain('PAM authentication failed for user');
    },
    MINUTE,
  );

  it(
    'stays up with --keep, says where everything is, and leaves nothing behind when it is stopped',
    async () => {
      const { ended, printed, stop } = startLocalRun('--events', '5', '--faults', 'none', '--keep');
      await printed('End with Ctrl-C');
      const environment = parse(readFileSync(join(__dirname, '../../.env.local'), 'utf8'));
      expect(environment).toMatchObject({
        SOURCE: 'kinesis',
        STRIPE_MODE: 'test',
        DATABASE_AUTH: 'rds-iam',
        PGSSLMODE: 'verify-full',
      });
      const kinesis = new URL(environment.AWS_ENDPOINT_URL_KINESIS ?? '');
      await expect(fetch(kinesis)).resolves.toBeDefined();
      stop();
      const { code, report, screen } = await ended;
      rmSync(join(__dirname, '../../.env.local'));
      expect({ code, verdict: report?.verdict }, screen).toEqual({ code: 0, verdict: 'pass' });
      await expect(fetch(kinesis)).rejects.toThrow();
    },
    MINUTE,
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
    MINUTE,
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
      const source = report?.sources[0];
      expect(source).toMatchObject({ distinct: 250, pending: 0, doubleCharged: 0, lost: 0, conflicts: 3 });
      expect((source?.charged ?? 0) + (source?.declined ?? 0)).toBe(250);
      expect(source?.faults.map((fault) => fault.name)).toEqual(FAULT_NAMES);
      for (const fault of source?.faults ?? []) {
        expect(fault.injected, fault.name).toBeGreaterThan(0);
        expect(fault.seen, fault.name).toBeGreaterThanOrEqual(fault.injected);
      }
    },
    4 * MINUTE,
  );
});
