import { describe, expect, test } from 'vitest';
import { mostShards, onDemandShards } from '../../../runtime/contract/lease-table-size';
import { systemHost } from '../../../runtime/host';
import { runCli } from '../../../runtime/ops/cli';
import { verbs } from '../../../runtime/ops/verbs';
import { fakeShell } from './fake-shell';

async function size(...args: string[]) {
  const { shell, written } = fakeShell(['size', ...args]);
  const code = await runCli({ shell, host: systemHost, verbs: verbs(), version: '1.2.3' });
  return { code, ...written };
}

async function figures(...args: string[]): Promise<Record<string, number>> {
  const { out, err } = await size('lease-table', ...args, '--json');
  expect(err).toBe('');
  return JSON.parse(out) as Record<string, number>;
}

describe('size lease-table', () => {
  test.each([
    { shards: 1, workers: 1, steady: 0.3, minimum: 5, kcl: 1.3, index: 5 },
    { shards: 10, workers: 2, steady: 3, minimum: 5, kcl: 13, index: 5 },
    { shards: 100, workers: 10, steady: 30.2, minimum: 46, kcl: 130.2, index: 15 },
    { shards: 1_000, workers: 50, steady: 302.3, minimum: 454, kcl: 1_302.3, index: 150 },
    { shards: 10_000, workers: 200, steady: 3_022.7, minimum: 4_535, kcl: 13_022.7, index: 1_500 },
  ])('says the figures of $shards shards and $workers workers', async (row) => {
    const sized = await figures('--shards', String(row.shards), '--workers', String(row.workers));
    expect(sized).toMatchObject({ shards: row.shards, workers: row.workers, leaseSeconds: 10 });
    expect(sized).toMatchObject({ writeMinimum: row.minimum, writeMaximum: 3 * row.minimum, indexWrite: row.index });
    expect(sized.steadyWrites).toBeCloseTo(row.steady, 1);
    expect(sized.kclSteadyWrites).toBeCloseTo(row.kcl, 1);
  });

  test('is a table that ends in what to type', async () => {
    const { code, out, err } = await size('lease-table', '--shards', '100', '--workers', '10');
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatchInlineSnapshot(`
      "Lease table for 100 shards and 10 workers, leases of 10 s (units a second):

        writes, steady        30.2  each lease renewed, its checkpoint in the same write
        writes, minimum         46  where autoscaling starts: half as much again
        writes, maximum        138  where it ends; its target is 70 %
        index writes            15  of the index by owner, when leases change hands
        reads, minimum          65  twice what the scans cost
        reads, maximum         195
        scan                 2.0 s  how often each worker reads the whole table
        KCL, for comparison  130.2  writes, with one checkpoint a second and shard

      On demand is enough, with room for what goes wrong. Type:
        new LeaseTable(this, 'Leases')
      Provisioned with autoscaling instead:
        new LeaseTable(this, 'Leases', { maxShards: 100 })
      "
    `);
  });

  test.each([
    { args: ['8800'], code: 0, says: "Type:\n  new LeaseTable(this, 'Leases')\n" },
    { args: ['500'], code: 0, says: "new LeaseTable(this, 'Leases', { maxShards: 500 })" },
    { args: ['100', '--lease-duration', '20s'], code: 0, says: '{ leaseDuration: Duration.seconds(20) })' },
    { args: ['5000', '--lease-duration', '5s'], code: 0, says: 'On demand is not enough: a new table carries 4,377 ' },
    {
      args: ['5000', '--lease-duration', '5s'],
      code: 0,
      says: '{ maxShards: 5000, leaseDuration: Duration.seconds(5) })',
    },
    { args: ['9000'], code: 1, says: '{ leaseDuration: Duration.seconds(11) })' },
    { args: ['9000'], code: 1, says: 'cannot be provisioned for more than 8,000 either' },
    { args: ['60000'], code: 1, says: 'Use several streams' },
  ])('says what to type for $args: $says', async ({ args, code, says }) => {
    const sized = await size('lease-table', ...args);
    expect([sized.code, sized.err]).toEqual([code, '']);
    expect(sized.out).toContain(says);
  });

  test('never advises what the construct would not carry', async () => {
    for (let shards = 1; shards < 60_000; shards += 997) {
      const { out } = await size('lease-table', String(shards));
      for (const [, props] of out.matchAll(/new LeaseTable\(this, 'Leases'(.*)\)/g)) {
        const seconds = Number(/seconds\((\d+)\)/.exec(props!)?.[1] ?? 10);
        const most = props!.includes('maxShards') ? mostShards(seconds) : onDemandShards(seconds);
        expect(shards).toBeLessThanOrEqual(most);
      }
    }
  });

  test.each([[['100']], [['--shards', '100']], [['--max-shards', '100']], [['--shards=100']]])(
    'understands %j',
    async (args) => {
      expect(await figures(...args)).toMatchObject({ shards: 100, workers: 10 });
    },
  );

  test.each([['20'], ['20s'], ['20000ms']])('understands a lease duration of %s', async (duration) => {
    expect(await figures('--shards', '1000', '--lease-duration', duration)).toMatchObject({
      leaseSeconds: 20,
      writeMinimum: 226,
    });
  });

  test('counts one worker for every ten shards when nobody says, as the construct does', async () => {
    expect(await figures('1000')).toMatchObject({ workers: 100 });
    expect(await figures('3')).toMatchObject({ workers: 2 });
  });
});

describe('size refuses', () => {
  test.each([
    [[], 'say what to size; can be sized: lease-table'],
    [['table'], 'received "table"; can be sized: lease-table'],
    [['lease-table'], 'received no --shards; allowed: a whole number, 1 to '],
    [['lease-table', '--shards', '0'], '--shards: received "0"; allowed: a whole number'],
    [['lease-table', '--shards', 'many'], '--shards: received "many"'],
    [['lease-table', '--max-shards', '1.5'], '--max-shards: received "1.5"'],
    [['lease-table', '1e3'], 'N: received "1e3"'],
    [['lease-table', '10', '--shards', '20'], 'received --shards 20 and N 10: say the shards once'],
    [['lease-table', '--shards', '1000001'], '--shards: received "1000001"; allowed: a whole number, 1 to 1000000'],
    [['lease-table', '10', '--workers', '0'], '--workers: received "0"; allowed: a whole number, 1 to'],
    [['lease-table', '10', '--lease-duration', '4s'], '--lease-duration: received "4s"; allowed: 5s to 60s'],
    [['lease-table', '10', '--lease-duration', '10000'], '--lease-duration: received "10000"'],
    [['lease-table', '10', '--lease-duration', 'PT10S'], '--lease-duration: received "PT10S"'],
    [['lease-table', '--shard', '10'], 'Did you mean --shards?'],
    [['lease-table', '10', '--lease', '10'], 'unknown option --lease'],
  ])('%j with 2 and the way out', async (args, words) => {
    const { code, out, err } = await size(...args);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(words);
  });
});
