/** What is said while the run stays up. */
import { writeFileSync } from 'node:fs';
import type { Screen } from './screen';
import type { Standing } from './screenplay';

/** Prints where everything is, and writes each source's worker environment into a file that only the user reads. */
export function sayWhereEverythingIs(standing: readonly Standing[], screen: Screen): void {
  const files = standing.map(({ verdict: { report }, environment }) => {
    const file = standing.length === 1 ? '.env.local' : `.env.${report.source}.local`;
    const lines = Object.entries(environment).map(([name, value]) => `${name}='${value}'`);
    writeFileSync(file, `${lines.join('\n')}\n`, { mode: 0o600 });
    return file;
  });
  screen.plain(`\nStaying up. The environment of a worker is in ${files.join(' and ')}. End with Ctrl-C.`);
  for (const { verdict, endpoints } of standing) {
    if (standing.length > 1) screen.plain(`  ${verdict.report.source}`);
    for (const [name, endpoint] of Object.entries(endpoints)) screen.plain(`  ${name.padEnd(12)} ${endpoint}`);
  }
}
