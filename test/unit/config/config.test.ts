import { describe, expect, test } from 'vitest';
import { type Config, readConfig } from '../../../runtime/config';
import { environment } from './environment';

type KinesisConfig = Extract<Config, { source: 'kinesis' }>;

function good(changes: Record<string, string | undefined> = {}): {
  config: KinesisConfig;
  warnings: readonly string[];
} {
  const read = readConfig(environment(changes));
  if (!read.ok) throw new Error(`refused: ${read.problems.join(' | ')}`);
  const { config, warnings } = read;
  if (config.source !== 'kinesis') throw new Error(`another source: ${config.source}`);
  return { config, warnings };
}

function problems(changes: Record<string, string | undefined>): readonly string[] {
  const read = readConfig(environment(changes));
  return read.ok ? [] : read.problems;
}

describe('a complete environment', () => {
  test('is grouped, with the documented defaults', () => {
    const { config, warnings } = good();
    expect(warnings).toEqual([]);
    expect(config).toEqual({
      source: 'kinesis',
      database: {
        host: 'db.internal',
        port: 5432,
        database: 'ledger',
        user: 'worker',
        login: { method: 'password', password: 'hunter2' },
        migrateCommand: 'chargeonce migrate --apply',
        tls: { mode: 'verify-full' },
      },
      stripe: {
        apiKey: 'rk_test_abc123',
        mode: 'test',
        apiBase: 'https://api.stripe.com',
        maxRps: 20,
        timeoutMs: 30_000,
      },
      billing: {
        namespace: 'billing',
        defaultCurrency: 'usd',
        eventFields: {},
        maxEventBytes: 1_048_576,
        parkAfterMs: 300_000,
        reconcileIntervalMs: 5_000,
        maxConcurrentCharges: 16,
        claimTtlMs: 120_000,
      },
      spendCap: { mode: 'ledger', perPeriod: { usd: 5_000_000, eur: 4_500_000 }, percent: 110 },
      checkpoint: { mode: 'batch', intervalMs: 5_000, count: 1_000 },
      kinesis: {
        streamName: 'usage',
        leaseTableName: 'leases',
        leaseDurationMs: 10_000,
        ownershipMarginMs: 2_000,
        initialPosition: 'TRIM_HORIZON',
        region: 'eu-west-1',
      },
      process: {
        healthHost: '0.0.0.0',
        healthPort: 8080,
        logLevel: 'info',
        metricsFormat: 'none',
        metricsIntervalMs: 60_000,
        metricsNamespace: 'chargeonce',
        metricsService: 'chargeonce',
        drainTimeoutMs: 100_000,
      },
    });
  });

  test('is frozen, all the way down', () => {
    const { config } = good();
    expect(() => Object.assign(config.spendCap.perPeriod, { usd: 1 })).toThrow(TypeError);
    expect(() => Object.assign(config.database.tls, { mode: 'disable' })).toThrow(TypeError);
  });

  test('reads nothing but what it is given', () => {
    expect(readConfig({}).ok).toBe(false);
    expect(readConfig(environment())).toEqual(readConfig(environment()));
  });
});

describe('problems', () => {
  test('are reported together', () => {
    const found = problems({
      STRIPE_API_KEY: '',
      SPEND_CAP_MODE: undefined,
      SPEND_CAP_DEFAULT: undefined,
      HEALTH_PORT: '80a',
      LEASE_TABLE_NAME: undefined,
      STREAM_NAME: undefined,
      DATABASE_URL: undefined,
    });
    const names = found.map((problem) => problem.split(':')[0]);
    expect(names.sort()).toEqual(
      ['DATABASE_URL', 'HEALTH_PORT', 'LEASE_TABLE_NAME', 'SPEND_CAP_MODE', 'STREAM_NAME', 'STRIPE_API_KEY'].sort(),
    );
  });

  test('say the name, what was received, what is allowed and the way out', () => {
    expect(problems({ LOG_LEVEL: 'loud' })).toEqual([
      'LOG_LEVEL: received "loud"; allowed: debug | info | warn | error. Set one of these, or leave it out for info.',
    ]);
  });

  test('count an empty text as absent', () => {
    expect(problems({ STRIPE_API_KEY: '' })[0]).toContain('received nothing');
    expect(good({ HEALTH_PORT: '', SOURCE: '', WORKER_ID: '' }).config.kinesis).not.toHaveProperty('workerId');
  });

  test.each([
    ['MAX_CONCURRENT_CHARGES', '1e3'],
    ['MAX_CONCURRENT_CHARGES', ' 16'],
    ['MAX_CONCURRENT_CHARGES', '0x10'],
    ['MAX_CONCURRENT_CHARGES', '016'],
    ['MAX_CONCURRENT_CHARGES', '-1'],
    ['MAX_CONCURRENT_CHARGES', '0'],
    ['MAX_CONCURRENT_CHARGES', '1.5'],
    ['STRIPE_MAX_RPS', '1e1'],
    ['STRIPE_MAX_RPS', '0'],
    ['STRIPE_MAX_RPS', '.5'],
    ['STRIPE_MAX_RPS', 'Infinity'],
    ['HEALTH_PORT', '65536'],
    ['HEALTH_PORT', 'NaN'],
    ['CHECKPOINT_MODE', 'never'],
    ['CHECKPOINT_MODE', 'BATCH'],
    ['INITIAL_POSITION', 'latest'],
    ['DEFAULT_CURRENCY', 'dollars'],
    ['DEFAULT_CURRENCY', 'xyz'],
    ['DESCRIPTION_TEMPLATE', 'Usage {month}'],
    ['SOURCE', 'service-bus'],
    ['ALLOW_UNRESTRICTED_STRIPE_KEY', 'yes', 'sk_live_abc123'],
    ['WORKER_ID', 'two words'],
    ['LEASE_TABLE_NAME', 'arn:aws:dynamodb:eu-west-1:1:table/x'],
  ])('%s=%j is refused', (name, value, key?: string) => {
    const changes = { [name]: value, ...(key === undefined ? {} : { STRIPE_API_KEY: key, STRIPE_MODE: 'live' }) };
    expect(problems(changes).some((problem) => problem.startsWith(`${name}: received`))).toBe(true);
  });

  test('a duration with a unit is answered with its milliseconds', () => {
    expect(problems({ STRIPE_TIMEOUT_MS: '10s' })[0]).toContain('milliseconds, e.g. 10000');
    expect(good({ STRIPE_TIMEOUT_MS: '10000' }).config.stripe.timeoutMs).toBe(10_000);
  });

  test('a share of the fleet may be a fraction', () => {
    expect(good({ STRIPE_MAX_RPS: '6.67' }).config.stripe.maxRps).toBe(6.67);
  });
});

describe('values checked against each other', () => {
  test('a claim outlives two Stripe deadlines and a margin', () => {
    expect(problems({ CLAIM_TTL_MS: '69999' })[0]).toContain('at least 70000');
    expect(problems({ CLAIM_TTL_MS: '70000' })).toEqual([]);
    expect(problems({ STRIPE_TIMEOUT_MS: '60000' })[0]).toMatch(
      /^CLAIM_TTL_MS: received "120000"; allowed: at least 130000/,
    );
  });

  test('the drain ends before the platform kills', () => {
    expect(problems({ DRAIN_TIMEOUT_MS: '120000' })[0]).toContain('less than 120000');
    expect(problems({ DRAIN_TIMEOUT_MS: '119999' })).toEqual([]);
  });

  test.each(['1000', '4999', '10000', '60000'])('the ownership margin is shorter than a lease of %s ms', (lease) => {
    const { leaseDurationMs, ownershipMarginMs } = good({ LEASE_DURATION_MS: lease }).config.kinesis;
    expect(ownershipMarginMs).toBeGreaterThan(0);
    expect(ownershipMarginMs).toBeLessThan(leaseDurationMs / 2);
  });

  test('name and ARN of the stream, and its region, agree', () => {
    const arn = 'arn:aws:kinesis:eu-west-1:123456789012:stream/usage';
    expect(good({ STREAM_ARN: arn, STREAM_NAME: undefined, AWS_REGION: undefined }).config.kinesis).toMatchObject({
      streamName: 'usage',
      streamArn: arn,
      region: 'eu-west-1',
    });
    expect(problems({ STREAM_ARN: arn, STREAM_NAME: 'other' })[0]).toContain('STREAM_NAME');
    expect(problems({ STREAM_ARN: arn, AWS_REGION: 'us-east-1' })[0]).toContain('AWS_REGION');
    expect(problems({ STREAM_ARN: `${arn}/consumer/x:1`, STREAM_NAME: undefined }).join()).toContain('STREAM_ARN');
  });
});

describe('crash points', () => {
  test('are read with their count', () => {
    expect(good({ CHARGEONCE_CRASH_AT: 'after-confirm' }).config.process.crashAt).toEqual({
      point: 'after-confirm',
      nth: 1,
    });
    expect(good({ CHARGEONCE_CRASH_AT: 'after-save:3' }).config.process.crashAt).toEqual({
      point: 'after-save',
      nth: 3,
    });
  });

  test.each(['after-lunch', 'after-confirm:0', 'after-confirm:', 'constructor'])('%s is refused', (value) => {
    expect(problems({ CHARGEONCE_CRASH_AT: value })[0]).toContain('CHARGEONCE_CRASH_AT');
  });

  test('are refused in live mode', () => {
    const live = { STRIPE_MODE: 'live', STRIPE_API_KEY: 'rk_live_abc123' };
    expect(problems(live)).toEqual([]);
    expect(problems({ ...live, CHARGEONCE_CRASH_AT: 'after-confirm' })[0]).toContain('nothing in live mode');
  });
});

describe('variables that look misspelt', () => {
  test('are told with the problems', () => {
    const read = readConfig(environment({ STRIPE_API_KEY: undefined, STRIPE_APIKEY: 'rk_test_abc123' }));
    expect(read.ok).toBe(false);
    expect(read.warnings).toEqual(['STRIPE_APIKEY is set but nothing reads it. Did you mean STRIPE_API_KEY?']);
  });

  test('are told when the rest is fine, since an optional one is ignored otherwise', () => {
    expect(good({ CLAIM_TTLMS: '90000' }).warnings[0]).toContain('CLAIM_TTL_MS');
  });

  test('are not seen in what other programs use', () => {
    const other = {
      PATH: '/bin',
      HOME: '/root',
      AWS_DEFAULT_REGION: 'x',
      PGPASSFILE: 'y',
      PGTZ: 'z',
      HOSTNAME: 'h',
      PORT: '1',
    };
    expect(good(other).warnings).toEqual([]);
  });
});
