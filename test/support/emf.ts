/** What CloudWatch makes of a log line in its embedded metric format. Strict: throws where CloudWatch would drop it. */

export interface Figure {
  readonly namespace: string;
  readonly name: string;
  readonly unit: string;
  readonly dimensions: Readonly<Record<string, string>>;
  readonly value: number;
}

interface Directive {
  readonly Namespace: string;
  readonly Dimensions: readonly (readonly string[])[];
  readonly Metrics: readonly { readonly Name: string; readonly Unit?: string; readonly StorageResolution?: number }[];
}

/** Part of CloudWatch's units: those that a figure of ours may have. */
const UNITS = new Set(['Count', 'Milliseconds', 'Seconds', 'Bytes', 'Percent', 'None']);
const MOST_METRICS = 100;
const MOST_DIMENSIONS = 30;
/** Lines from 2020 to 2100: a timestamp in seconds is not within. */
const [EARLIEST, LATEST] = [1_577_836_800_000, 4_102_444_800_000];

/** The figures of one line; none when it is an ordinary log line. */
export function figuresOf(line: string): Figure[] {
  const root = JSON.parse(line) as Record<string, unknown>;
  const meta = root._aws as { Timestamp: number; CloudWatchMetrics: readonly Directive[] } | undefined;
  if (meta === undefined) return [];
  const { Timestamp: time, CloudWatchMetrics: directives } = meta;
  if (!Number.isInteger(time) || time < EARLIEST || time > LATEST)
    throw new Error(`Timestamp ${time} is no time in ms`);
  return directives.flatMap((directive) => figuresOfDirective(directive, root));
}

function figuresOfDirective({ Namespace, Dimensions, Metrics }: Directive, root: Record<string, unknown>): Figure[] {
  if (!/^[\w.\-/#: ]{1,256}$/.test(Namespace)) throw new Error(`Namespace ${Namespace} is none`);
  if (Metrics.length > MOST_METRICS) throw new Error(`${Metrics.length} metrics in one directive`);
  return Dimensions.flatMap((names) => {
    if (names.length > MOST_DIMENSIONS) throw new Error(`${names.length} dimensions`);
    const dimensions = Object.fromEntries(names.map((name) => [name, root[name]]));
    for (const [name, value] of Object.entries(dimensions)) {
      if (typeof value !== 'string' || value === '') throw new Error(`The dimension ${name} is ${String(value)}`);
    }
    return Metrics.map(({ Name: name, Unit: unit = 'None' }): Figure => {
      const value = root[name];
      if (typeof value !== 'number' || !Number.isFinite(value))
        throw new Error(`The metric ${name} is ${String(value)}`);
      if (!UNITS.has(unit)) throw new Error(`The unit of ${name} is ${unit}`);
      return { namespace: Namespace, name, unit, dimensions: dimensions as Record<string, string>, value };
    });
  });
}
