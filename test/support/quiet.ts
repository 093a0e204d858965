/** A log and metrics that keep what they were given, for tests that read it and for those that do not care. */
import type { Log, Metrics } from '../../runtime/processor/ports';

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly fields: object;
  readonly message: string;
}

/** Keeps nothing. */
export const silentLog: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

export class KeptLog implements Log {
  readonly lines: LogLine[] = [];

  debug(fields: object, message: string): void {
    this.lines.push({ level: 'debug', fields, message });
  }

  info(fields: object, message: string): void {
    this.lines.push({ level: 'info', fields, message });
  }

  warn(fields: object, message: string): void {
    this.lines.push({ level: 'warn', fields, message });
  }

  error(fields: object, message: string): void {
    this.lines.push({ level: 'error', fields, message });
  }

  matching(text: string): LogLine[] {
    return this.lines.filter((line) => line.message.includes(text));
  }

  has(pattern: RegExp): boolean {
    return this.lines.some((line) => pattern.test(line.message));
  }
}

export class KeptMetrics implements Metrics {
  readonly #counts = new Map<string, number>();
  readonly #gauges = new Map<string, number>();

  count(name: string, labels: Readonly<Record<string, string>> = {}, by = 1): void {
    const key = [name, ...Object.values(labels)].join(' ');
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + by);
  }

  gauge(name: string, value: number): void {
    this.#gauges.set(name, value);
  }

  /** `charges charged`: the name and the values of its labels. */
  counted(key: string): number {
    return this.#counts.get(key) ?? 0;
  }

  gauged(name: string): number | undefined {
    return this.#gauges.get(name);
  }
}
