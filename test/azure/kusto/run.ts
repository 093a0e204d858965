/** Runs a query of ours over rows: one table, then `where`, `extend` and `summarize`. */
import { Expression, type Row, tokensOf } from './expression';

export type Tables = Readonly<Record<string, readonly Row[]>>;

export function runKusto(query: string, tables: Tables): Row[] {
  const [table = '', ...steps] = query.split('\n');
  const rows = tables[table];
  if (rows === undefined) throw new Error(`There is no table ${table}`);
  return steps.reduce<Row[]>((now, step) => apply(step, now), [...rows]);
}

function apply(step: string, rows: Row[]): Row[] {
  const [, operator, rest] = /^\| (where|extend|summarize) (.*)$/.exec(step) ?? [];
  if (rest === undefined) throw new Error(`A step of Kusto that this test does not know: ${step}`);
  if (operator === 'where') return rows.filter((row) => evaluated(rest, row) === true);
  if (operator === 'summarize') return summarize(rest, rows);
  const [name, expression] = named(rest);
  return rows.map((row) => ({ ...row, [name]: evaluated(expression, row) }));
}

const evaluated = (expression: string, row: Row): unknown => new Expression(tokensOf(expression), row).value();

/** `name = expression`, `['any name'] = expression` or an expression alone. */
function named(text: string): [name: string, expression: string] {
  const [, quoted, plain, expression] = /^(?:\['([^']*)'\]|(\w+)) = (.*)$/.exec(text) ?? [];
  return expression === undefined ? [text, text] : [quoted ?? plain ?? '', expression];
}

function summarize(text: string, rows: Row[]): Row[] {
  const [figures = '', by] = text.split(' by ');
  const groups = new Map<unknown, Row[]>();
  // Without "by" there is one group, of no rows if need be.
  if (by === undefined) groups.set(undefined, rows);
  const [key, expression] = by === undefined ? ['', ''] : named(by);
  if (by !== undefined) {
    for (const row of rows) {
      const value = evaluated(expression, row);
      groups.set(value, [...(groups.get(value) ?? []), row]);
    }
  }
  return [...groups].map(([value, members]) => ({
    ...(by === undefined ? {} : { [key]: value }),
    ...Object.fromEntries(splitFigures(figures).map((figure) => aggregate(figure, members))),
  }));
}

/** At the commas between figures, which are followed by the next one's name. */
const splitFigures = (text: string): string[] => text.split(/, (?=\['|\w+ = )/);

function aggregate(figure: string, rows: readonly Row[]): [name: string, value: unknown] {
  const [name, call] = named(figure);
  const [, kind, inner] = /^(count|sum|max)\((.*)\)$/.exec(call) ?? [];
  if (kind === undefined) throw new Error(`An aggregate of Kusto that this test does not know: ${call}`);
  if (kind === 'count') return [name, rows.length];
  const values = rows.map((row) => evaluated(inner ?? '', row)).filter((value) => typeof value === 'number');
  if (kind === 'sum') return [name, values.reduce((sum, value) => sum + value, 0)];
  return [name, values.length === 0 ? null : Math.max(...values)];
}
