/**
 * `npx tsx bench/synth.ts`: what `cdk synth` of the pattern costs beside a bare app with the same resources by hand.
 * Each run is a process of its own, as the CDK starts one: loading is measured apart.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { SHAPES } from '../test/aws/shapes';
import { bare } from './bare';

const RUNS = 7;
const SUBJECTS = ['pattern', 'bare'] as const;
type Subject = (typeof SUBJECTS)[number];

interface Times {
  readonly loadMs: number;
  readonly synthMs: number;
  readonly resources: number;
}

/** In the child: synthesizes, and says how long that took and how long all was loading before. */
function once(subject: Subject): Times {
  const loadMs = performance.now();
  const outdir = mkdtempSync(join(tmpdir(), 'chargeonce-bench-'));
  try {
    const app = new App({ analyticsReporting: false, outdir });
    if (subject === 'pattern') SHAPES.pattern(app);
    else bare(app);
    const [stack] = app.synth().stacks;
    const { Resources } = stack!.template as { Resources: object };
    return { loadMs, synthMs: performance.now() - loadMs, resources: Object.keys(Resources).length };
  } finally {
    rmSync(outdir, { recursive: true, force: true });
  }
}

function measure(subject: Subject): Times {
  const env = { ...process.env, JSII_DEPRECATED: 'quiet' };
  const args = ['--require', 'tsx/cjs', __filename, subject];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8', env })) as Times;
}

const median = (numbers: readonly number[]) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)]!;

/** In turns, so that what else the machine does meets both. */
function compare(): void {
  const runs: Record<Subject, Times[]> = { pattern: [], bare: [] };
  for (let run = 0; run < RUNS; run++) for (const subject of SUBJECTS) runs[subject].push(measure(subject));
  const [pattern, byHand] = SUBJECTS.map((subject) => ({
    load: median(runs[subject].map(({ loadMs }) => loadMs)),
    synth: median(runs[subject].map(({ synthMs }) => synthMs)),
    resources: runs[subject][0]!.resources,
  }));
  console.log(`median of ${RUNS}          load ms  synth ms  resources`);
  const row = (name: string, ...cells: number[]) =>
    console.log(`${name.padEnd(18)} ${cells.map((cell) => cell.toFixed(0).padStart(9)).join(' ')}`);
  row('KinesisBilling', pattern!.load, pattern!.synth, pattern!.resources);
  row('the same by hand', byHand!.load, byHand!.synth, byHand!.resources);
  const ratio = (of: (it: { load: number; synth: number }) => number) => (of(pattern!) / of(byHand!)).toFixed(2);
  console.log(`ratio: synth ${ratio((it) => it.synth)}, with loading ${ratio((it) => it.load + it.synth)}`);
}

const asked = process.argv[2];
if (asked === 'pattern' || asked === 'bare') console.log(JSON.stringify(once(asked)));
else compare();
