/**
 * How long a program waits until `chargeonce/azure` is there, beside what Pulumi itself takes: `npx tsx bench/azure-import.ts`
 * after `npm run build`. Ten processes, one after the other; the median counts.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const RUNS = 10;
const SCRIPT = `
  const begun = performance.now();
  require('@pulumi/pulumi');
  const pulumi = performance.now();
  require(${JSON.stringify(join(__dirname, '../dist/constructs/azure'))});
  process.stdout.write(JSON.stringify([pulumi - begun, performance.now() - pulumi]));
`;

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;

const runs = Array.from(
  { length: RUNS },
  () =>
    JSON.parse(
      execFileSync(process.execPath, ['-e', SCRIPT], { cwd: join(__dirname, '..'), encoding: 'utf8' }),
    ) as readonly [pulumi: number, own: number],
);
console.log(`@pulumi/pulumi:   ${median(runs.map(([pulumi]) => pulumi)).toFixed(0)} ms`);
console.log(`chargeonce/azure: ${median(runs.map(([, own]) => own)).toFixed(0)} ms more`);
