/** What every publisher of the command line needs, and how it says what it did. */
import { createReadStream } from 'node:fs';
import type { Shell } from '../host';
import type { NamedLine } from './publish-files';

export interface Common {
  readonly file: string;
  readonly json: boolean;
  /** Most events a second. Absent: no limit. */
  readonly rate?: number;
  readonly undelivered?: string;
}

/** A longer line is cut, and then refused for its size: no stream or hub takes as much. */
export const LONGEST_LINE = 10 * 1024 * 1024;

export function input(file: string, shell: Shell): AsyncIterable<Uint8Array> {
  return file === '-' ? shell.stdin() : (createReadStream(file) as AsyncIterable<Uint8Array>);
}

export interface Report {
  /** Name of the stream or hub. */
  readonly target: string;
  readonly noun: 'records' | 'events';
  readonly read: number;
  readonly sent: number;
  readonly retried: number;
  readonly undelivered: number;
  readonly requests: number;
  /** Absent: not told apart. */
  readonly unanswered?: number;
  readonly lines: readonly NamedLine[];
}

export function words(report: Report): string {
  const { target, noun, unanswered = 0 } = report;
  const unnamed = report.undelivered - report.lines.length;
  return [
    `${target}: sent ${report.sent} of ${report.read} ${noun}; requests: ${report.requests}, retried: ${report.retried}`,
    ...(unanswered === 0
      ? []
      : [
          `no answer came for ${unanswered}, which were sent again or given up: any of them may be there, or twice; the ledger charges once`,
        ]),
    ...(report.undelivered === 0 ? [] : [`not delivered: ${report.undelivered}`]),
    ...byReason(report.lines),
    ...(unnamed > 0 ? [`  and ${unnamed} more`] : []),
    '',
  ].join('\n');
}

/** Each reason once, with its lines: one that stops everything would be said a thousand times. */
function byReason(lines: readonly NamedLine[]): string[] {
  const groups = new Map<string, number[]>();
  for (const { line, reason } of lines.toSorted((a, b) => a.line - b.line)) {
    groups.set(reason, [...(groups.get(reason) ?? []), line]);
  }
  return [...groups].map(([reason, of]) => `  ${of.length === 1 ? 'line' : 'lines'} ${inRanges(of)}: ${reason}`);
}

const MOST_RANGES = 10;

/** `1 to 4, 7, 9`: of numbers in order. */
function inRanges(numbers: readonly number[]): string {
  const ranges: { from: number; to: number }[] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last?.to === number - 1) last.to = number;
    else ranges.push({ from: number, to: number });
  }
  const shown = ranges.slice(0, MOST_RANGES).map(({ from, to }) => (from === to ? `${from}` : `${from} to ${to}`));
  const more = ranges.slice(MOST_RANGES).reduce((sum, { from, to }) => sum + to - from + 1, 0);
  return `${shown.join(', ')}${more === 0 ? '' : ` and ${more} more`}`;
}
