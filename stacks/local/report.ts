/** The verdict, for people as a table and for machines as JSON. */
import type { FaultReport } from './faults/names';
import type { Counts } from './oracle';
import type { SourceName } from './sources/parts';

export interface SourceReport extends Counts {
  readonly source: SourceName;
  readonly faults: readonly FaultReport[];
}

export interface Report {
  readonly verdict: 'pass' | 'fail';
  readonly seconds: number;
  readonly problems: readonly string[];
  readonly sources: readonly SourceReport[];
}

const ROWS: readonly [keyof Counts, string][] = [
  ['published', 'lines published'],
  ['valid', 'of them valid events'],
  ['distinct', 'distinct (customer, period)'],
  ['charged', 'charged'],
  ['declined', 'declined by the card'],
  ['actionRequired', 'waiting for the customer (3-D Secure)'],
  ['processing', 'accepted, settles later'],
  ['capBlocked', 'blocked by the spend cap'],
  ['rejected', 'rejected by Stripe'],
  ['zeroAmount', 'amount zero, nothing to charge'],
  ['pending', 'still pending'],
  ['deadLettered', 'dead letters (no events)'],
  ['conflicts', 'conflicts (another amount)'],
  ['doubleCharged', 'CHARGED TWICE'],
  ['lost', 'LOST'],
];

/** Ends other than a charge. */
const OTHER_ENDS: readonly [keyof Counts, string][] = [
  ['declined', 'declined'],
  ['actionRequired', 'waiting for the customer'],
  ['processing', 'processing'],
  ['capBlocked', 'blocked by the cap'],
  ['rejected', 'rejected'],
  ['zeroAmount', 'of amount zero'],
];

export function reportTable(report: Report): string {
  const lines: string[] = [];
  for (const source of report.sources) {
    lines.push('', `  ${source.source}`);
    for (const [key, label] of ROWS) lines.push(`  ${label.padEnd(40, '.')} ${String(source[key]).padStart(6)}`);
    if (source.faults.length > 0) {
      lines.push('', `  ${'fault'.padEnd(16)}${'injected'.padStart(9)}${'seen'.padStart(6)}`);
      for (const fault of source.faults) {
        lines.push(`  ${fault.name.padEnd(16)}${String(fault.injected).padStart(9)}${String(fault.seen).padStart(6)}`);
      }
    }
  }
  if (report.problems.length > 0) lines.push('', ...report.problems.map((problem) => `  PROBLEM ${problem}`));
  lines.push('', `  ${sentence(report)}`);
  return lines.join('\n');
}

function sentence(report: Report): string {
  if (report.verdict === 'fail') return `FAIL after ${report.seconds} s: see the problems above.`;
  const ended = OTHER_ENDS.map(([key, words]) => {
    return { words, count: report.sources.reduce((sum, source) => sum + source[key], 0) };
  }).flatMap(({ words, count }) => (count > 0 ? [`${count} ${words}`] : []));
  const others = ended.length === 0 ? '' : ` or ended as it must (${ended.join(', ')})`;
  return `PASS in ${report.seconds} s: every valid (customer, period) charged once${others}, nothing charged twice, nothing lost.`;
}
