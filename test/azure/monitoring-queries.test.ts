/** The alerts' queries over lines that the runtime wrote, in both tables that a console log may arrive in. */
import { describe, expect, it } from 'vitest';
import type { LogTable } from '../../constructs/azure';
import { WORKERS_GONE } from '../../constructs/azure/monitoring/alert-specs';
import { chartQuery } from '../../constructs/azure/monitoring/metric-lines-query';
import { lagLimits, workerAlerts } from '../../constructs/azure/monitoring/worker-alerts';
import { kustoProblems } from './kusto/check';
import { runKusto } from './kusto/run';
import { type LinesOptions, raise, SERVICE, tables, type Written, writtenLines } from './kusto/worker-lines';

const TABLES: LogTable[] = ['ContainerAppConsoleLogs', 'ContainerAppConsoleLogs_CL'];
const ALERTS = workerAlerts(lagLimits(5, 168));
const BEYOND = ALERTS.flatMap(({ beyond, ...spec }) => (beyond === undefined ? [] : [{ ...spec, beyond }]));

const nameOf = (spec: { readonly name: string }) => spec.name;
const namesIn = (query: string) => [...query.matchAll(/line\.(\w+)/g)].map(([, name]) => name ?? '');
const ready: LinesOptions['happens'] = (metrics) => metrics.gauge('ready', 1);

/** How often an alert's query sees something wrong in these lines: once or never. */
function found(spec: (typeof ALERTS)[number], lines: readonly Written[], table: LogTable = TABLES[0]!): number {
  return runKusto(spec.query({ table, service: SERVICE }), tables(lines, table)).length;
}

describe.each(TABLES)('in the table %s', (table) => {
  it.each(ALERTS.map((spec) => [nameOf(spec), spec] as const))('Kusto takes the query of %s', (_, spec) => {
    expect(kustoProblems(spec.query({ table, service: SERVICE }))).toEqual([]);
  });

  it.each(BEYOND.map((spec) => [nameOf(spec), spec] as const))('%s is beyond its limit, or is not', async (_, spec) => {
    const { name, above, minutes } = spec.beyond;
    const raised = (to: number, during: number) => {
      let minute = 0;
      return writtenLines({
        minutes: spec.windowMinutes,
        happens: (metrics) => {
          const beyond = minute++ < during;
          // A gauge stands until it is set again.
          raise(metrics, name, beyond ? to : 0);
        },
      });
    };
    expect(found(spec, await raised(above + 1, minutes), table)).toBe(1);
    expect(found(spec, await raised(above + 1, minutes - 1), table)).toBe(0);
    expect(found(spec, await raised(above, spec.windowMinutes), table)).toBe(0);
  });

  it('says that nobody is ready when no line says otherwise, or none came at all', async () => {
    const unready = await writtenLines({ minutes: 10 });
    const other = await writtenLines({ minutes: 10, service: 'another-app', happens: ready });
    expect(found(WORKERS_GONE, [], table)).toBe(1);
    expect(found(WORKERS_GONE, unready, table)).toBe(1);
    expect(found(WORKERS_GONE, other, table)).toBe(1);
    expect(found(WORKERS_GONE, [...unready, ...(await writtenLines({ minutes: 1, happens: ready }))], table)).toBe(0);
  });
});

describe('the figures', () => {
  it.each(ALERTS.map((spec) => [nameOf(spec), spec] as const))('that %s names are in every line', async (_, spec) => {
    const [line] = await writtenLines({ minutes: 1 });
    const written = Object.keys(JSON.parse(line!.text));
    const named = namesIn(spec.query({ table: 'ContainerAppConsoleLogs', service: SERVICE }));
    expect(named.length).toBeGreaterThan(2);
    expect(named.filter((name) => !written.includes(name))).toEqual([]);
  });

  it('of several workers are taken together: counters summed, of gauges the highest', async () => {
    const one = await writtenLines({ minutes: 1, happens: (metrics) => raise(metrics, 'deadLetters', 2) });
    const two = await writtenLines({
      minutes: 1,
      happens: (metrics) => {
        raise(metrics, 'deadLetters', 3);
        raise(metrics, 'consumerLag', 7);
      },
    });
    const query = chartQuery(
      { table: 'ContainerAppConsoleLogs', service: SERVICE },
      { 'dead letters': 'deadLetters', behind: 'consumerLag' },
    );
    expect(kustoProblems(query)).toEqual([]);
    expect(runKusto(query, tables([...one, ...two], 'ContainerAppConsoleLogs'))).toMatchObject([
      { 'dead letters': 5, behind: 7 },
    ]);
  });
});

describe('these checks', () => {
  const spec = BEYOND.find(({ name }) => name === 'deadLetters')!;
  const happens: LinesOptions['happens'] = (metrics) => raise(metrics, 'deadLetters', 1);

  it('would see a figure that the runtime writes under another name', async () => {
    const lines = await writtenLines({ minutes: 10, happens });
    const renamed = lines.map((line) => ({ ...line, text: line.text.replaceAll('DeadLetters', 'DeadLetter') }));
    expect(found(spec, lines)).toBe(1);
    expect(found(spec, renamed)).toBe(0);
  });

  it('would see a query that asks the other table', async () => {
    const lines = await writtenLines({ minutes: 10, happens: ready });
    const query = WORKERS_GONE.query({ table: 'ContainerAppConsoleLogs_CL', service: SERVICE });
    expect(runKusto(query, tables(lines, 'ContainerAppConsoleLogs'))).toHaveLength(1);
  });

  it('would see what Kusto does not take', () => {
    expect(kustoProblems('ContainerAppConsoleLogs | where Log_s has "x"').join()).toContain('Log_s');
    expect(kustoProblems('ContainerAppConsoleLogs | extend x = parse_jason(Log)').join()).toContain('parse_jason');
    expect(kustoProblems('ContainerAppConsoleLogs | where')).not.toEqual([]);
  });

  it('would see a query that the alert service does not take: it wants one table first', () => {
    for (const { query } of ALERTS) {
      const text = query({ table: 'ContainerAppConsoleLogs', service: SERVICE });
      expect(text.split('\n')[0]).toBe('ContainerAppConsoleLogs');
      expect(text).not.toMatch(/\b(union|search|let|take|limit)\b/);
    }
  });

  it('escape a name that has quotes, which ends no string', () => {
    const query = WORKERS_GONE.query({ table: 'ContainerAppConsoleLogs', service: 'a" or true or "' });
    expect(kustoProblems(query)).toEqual([]);
    expect(query).toContain('has "a\\" or true or \\""');
  });
});
