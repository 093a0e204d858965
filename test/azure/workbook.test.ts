/** The workbook: JSON that Azure reads, queries that Kusto takes, figures that there are. */
import { describe, expect, it } from 'vitest';
import { METRICS, METRICS_BY_LABEL } from '../../runtime/contract';
import { kustoProblems } from './kusto/check';
import type { Run } from './mocks';
import { type Watch, WORKSPACE_ID, watch } from './monitored';

const WORKBOOK = 'azure-native:applicationinsights:Workbook';

interface Item {
  readonly type: number;
  readonly name: string;
  readonly content: {
    readonly query?: string;
    readonly queryType?: number;
    readonly title?: string;
    readonly json?: string;
    readonly timeContextFromParameter?: string;
    readonly resourceIds?: string[];
    readonly metrics?: { readonly namespace: string; readonly metric: string; readonly aggregation: number }[];
    readonly parameters?: { readonly name: string }[];
  };
}
interface Workbook {
  readonly version: string;
  readonly items: readonly Item[];
  readonly fallbackResourceIds: readonly string[];
}

const inputsOf = (run: Run<unknown>) => run.ofType(WORKBOOK)[0]!.inputs;
const contentOf = (run: Run<unknown>) => JSON.parse(String(inputsOf(run).serializedData)) as Workbook;
const made = async (options?: Watch) => contentOf(await watch(options));

describe('the workbook', () => {
  it('is shared, beside the workspace, under a UUID that stays', async () => {
    const { resourceName, ...inputs } = inputsOf(await watch());
    expect(inputs).toMatchObject({ kind: 'shared', category: 'workbook', sourceId: WORKSPACE_ID.toLowerCase() });
    expect(resourceName).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(inputsOf(await watch({ args: { lagMinutes: 7 } })).resourceName).toBe(resourceName);
    expect(inputsOf(await watch({}, { stack: 'prod' })).resourceName).not.toBe(resourceName);
  });

  it('is none when it is not wanted', async () => {
    const run = await watch({ args: { workbook: false } });
    expect(run.ofType(WORKBOOK)).toEqual([]);
    expect(run.result.workbook).toBeUndefined();
  });

  it('begins with what to know, the time to look at, and what is wrong now', async () => {
    const run = await watch();
    const { version, items, fallbackResourceIds } = contentOf(run);
    expect({ version, fallbackResourceIds }).toEqual({ version: 'Notebook/1.0', fallbackResourceIds: [WORKSPACE_ID] });
    const [help, time, alerts] = items;
    expect(help!.content.json).toContain('Waiting is safe');
    expect(help!.content.json).toContain('az containerapp job start');
    expect(time!.content.parameters?.map(({ name }) => name)).toEqual(['TimeRange']);
    const count = Object.keys(run.result.alerts).length;
    expect(alerts!.content.query?.match(/"\/subscriptions\//g)).toHaveLength(count);
  });

  it('draws what the workers write, with queries that Kusto takes', async () => {
    const charts = (await made()).items.filter(({ type, content }) => type === 3 && content.queryType === 0);
    expect(charts.length).toBeGreaterThan(8);
    const written = [...Object.values(METRICS), ...Object.values(METRICS_BY_LABEL)].map(({ emf }) => emf as string);
    for (const { content } of charts) {
      expect(kustoProblems(content.query!)).toEqual([]);
      const names = [...content.query!.matchAll(/todouble\(line\.(\w+)\)/g)].map(([, name]) => name!);
      expect(names).not.toEqual([]);
      expect(names.filter((name) => !written.includes(name))).toEqual([]);
    }
  });

  it('has one chart of a name, each in the chosen time, and every figure of Azure by its full name', async () => {
    const { items } = await made();
    expect(new Set(items.map(({ name }) => name)).size).toBe(items.length);
    const drawn = items.filter(({ type, content }) => type === 10 || (type === 3 && content.queryType === 0));
    expect(new Set(drawn.map(({ content }) => content.timeContextFromParameter))).toEqual(new Set(['TimeRange']));
    for (const { content } of items.filter(({ type }) => type === 10)) {
      expect(content.resourceIds?.[0]).toMatch(/^\/subscriptions\//);
      for (const { namespace, metric } of content.metrics!) {
        expect(metric).toMatch(new RegExp(`^${namespace.replaceAll('.', '\\.')}--\\w+$`));
        expect(namespace).toBe(namespace.toLowerCase());
      }
    }
  });

  it('leaves out what is not given', async () => {
    const { items } = await made({ parts: ['ledger'] });
    expect(items.map(({ name }) => name)).toEqual([
      'help',
      'time-range',
      'alerts',
      'ledger-load',
      'ledger-connections',
    ]);
  });

  it('is readable, line by line, in a diff', async () => {
    expect(String(inputsOf(await watch()).serializedData).split('\n').length).toBeGreaterThan(100);
  });
});
