/**
 * The test entry: builds the bundles, runs the suites, and sums up.
 * `npm test` runs all of them, `npm test -- unit ledger` only these. The last line is `N passed, N failed`.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { buildImages } from '../runtime/image/build';
import { PythonMissing, pythonEnvironment, REQUIREMENTS } from './deploy/python';
import { GoMissing, pulumiCli } from './deploy-azure/cli';
import { ENDED, STARTED } from './support/running-files';

/** Cheap suites first: they fail fastest. */
const SUITES = ['unit', 'emulators', 'aws', 'azure', 'ledger', 'sources', 'simulator', 'bugs', 'faults', 'package'];
/** Run when they are named: they need Python and its package index, or Go and its module proxy. */
const ON_REQUEST = ['deploy', 'deploy-azure'];
/** One file at a time on a server of its own, which it waits for: these keep half a core busy, beside those that compute. */
const BESIDE = ['ledger', 'simulator'];
const COMPUTING = ['unit', 'emulators', 'aws', 'azure'];
/** These wait for processes, leases and timers more than they compute: three files at a time keep two cores busy. */
const WAITING = ['sources', 'bugs', 'faults'];
const ROOT = join(__dirname, '..');
/** No suite is silent for longer than this. */
const HEARTBEAT_MS = 15_000;

interface Result {
  readonly suite: string;
  readonly passed: number;
  readonly failed: number;
  readonly seconds: number;
  /** What is wrong with the suite as a whole. */
  readonly problem?: string;
}

async function main(): Promise<void> {
  const asked = process.argv.slice(2);
  const all = [...SUITES, ...ON_REQUEST];
  const unknown = asked.filter((name) => !all.includes(name));
  if (unknown.length > 0) {
    console.error(`There is no suite ${unknown.join(', ')}. Suites: ${all.join(', ')}.`);
    process.exitCode = 2;
    return;
  }
  const started = performance.now();
  if (asked.includes('deploy')) {
    console.log('== Python');
    for (const file of REQUIREMENTS) await pythonEnvironment(file, (line) => console.log(`   ${line}`));
  }
  if (asked.includes('deploy-azure')) {
    console.log('== Pulumi');
    await pulumiCli((line) => console.log(`   ${line}`));
  }
  console.log('== bundles');
  for (const { name, bytes } of await buildImages()) console.log(`   ${name} ${(bytes / 1024 / 1024).toFixed(2)} MiB`);
  const wanted = asked.length === 0 ? SUITES : all.filter((name) => asked.includes(name));
  const results = await runSuites(wanted);
  const inOrder = wanted.flatMap((name) => results.filter(({ suite }) => suite === name));
  summarize(inOrder, secondsSince(started));
}

/** Those that wait beside those that compute, then all others one after another. */
async function runSuites(wanted: readonly string[]): Promise<Result[]> {
  const computing = wanted.filter((name) => COMPUTING.includes(name));
  const beside = computing.length === 0 ? [] : wanted.filter((name) => BESIDE.includes(name));
  const first = await Promise.all([inTurn(computing), inTurn(beside, [])]);
  const rest = wanted.filter((name) => !computing.includes(name) && !beside.includes(name));
  return [...first.flat(), ...(await inTurn(rest))];
}

/** @param held filled with what a suite says, which is printed when it has ended: so no two suites talk at once */
async function inTurn(suites: readonly string[], held?: string[]): Promise<Result[]> {
  const results: Result[] = [];
  for (const suite of suites) {
    results.push(await runSuite(suite, held));
    for (const line of held?.splice(0) ?? []) console.log(line);
  }
  return results;
}

async function runSuite(suite: string, held?: string[]): Promise<Result> {
  say(`\n== ${suite}`, held);
  const folder = mkdtempSync(join(tmpdir(), 'chargeonce-test-'));
  const report = join(folder, 'report.json');
  const started = performance.now();
  try {
    const code = await runVitest(suite, report, held);
    return { suite, seconds: secondsSince(started), ...count(report, code) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs a suite with its output passed on, and says what is running whenever it has been silent for long. */
async function runVitest(suite: string, report: string, held?: string[]): Promise<number | null> {
  const args = [
    join(ROOT, 'node_modules', 'vitest', 'vitest.mjs'),
    ...['run', '--config', 'test/vitest.config.mts', '--project', suite, '--passWithNoTests'],
    ...['--reporter=default', '--reporter=json', '--reporter=test/support/running-files-reporter.mts'],
    `--outputFile.json=${report}`,
    ...(WAITING.includes(suite) ? ['--maxWorkers=3'] : []),
  ];
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
  const started = performance.now();
  const running = new Set<string>();
  let heartbeat: NodeJS.Timeout | undefined;
  const beat = () => {
    clearTimeout(heartbeat);
    heartbeat = setTimeout(() => {
      const what = running.size === 0 ? 'between files' : [...running].join(', ');
      console.log(`   ${suite}: ${secondsSince(started).toFixed(0)} s, running: ${what}`);
      beat();
    }, HEARTBEAT_MS);
  };
  beat();
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      if (line.startsWith(STARTED)) running.add(line.slice(STARTED.length));
      else if (line.startsWith(ENDED)) running.delete(line.slice(ENDED.length));
      else {
        say(line, held);
        if (held === undefined) beat();
      }
    });
  }
  const stop = (signal: NodeJS.Signals) => child.kill(signal);
  process.once('SIGINT', stop).once('SIGTERM', stop);
  const code = await new Promise<number | null>((resolve) => child.once('close', (exit) => resolve(exit)));
  process.off('SIGINT', stop).off('SIGTERM', stop);
  clearTimeout(heartbeat);
  return code;
}

function say(line: string, held?: string[]): void {
  if (held === undefined) console.log(line);
  else held.push(line);
}

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly status: string;
    readonly assertionResults: readonly { status: string }[];
  }[];
}

function count(file: string, code: number | null): Omit<Result, 'suite' | 'seconds'> {
  const report = readReport(file);
  if (report === undefined) return { passed: 0, failed: 1, problem: `ended with ${code} and without a report` };
  const passed = report.numPassedTests;
  // A file that does not even load has no test that could fail.
  const broken = report.testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && assertionResults.every((each) => each.status !== 'failed'),
  ).length;
  const failed = report.numFailedTests + broken;
  if (passed + failed === 0) return { passed, failed: 1, problem: 'ran no test' };
  if (code !== 0 && failed === 0) return { passed, failed: 1, problem: `ended with ${code} though no test failed` };
  return { passed, failed };
}

function readReport(file: string): Report | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Report;
  } catch (error) {
    console.error(`No report: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

function summarize(results: readonly Result[], seconds: number): void {
  console.log('\nsuite        passed  failed  seconds');
  for (const { suite, passed, failed, seconds: took, problem } of results) {
    const row = [suite.padEnd(10), String(passed).padStart(8), String(failed).padStart(7), took.toFixed(1).padStart(8)];
    console.log(`${row.join(' ')}${problem === undefined ? '' : `  ${problem}`}`);
  }
  const passed = results.reduce((sum, result) => sum + result.passed, 0);
  const failed = results.reduce((sum, result) => sum + result.failed, 0);
  console.log(`total ${seconds.toFixed(1)} s\n`);
  console.log(`${passed} passed, ${failed} failed`);
  if (failed > 0) process.exitCode = 1;
}

const secondsSince = (started: number): number => (performance.now() - started) / 1_000;

main().catch((error: unknown) => {
  const missing = error instanceof PythonMissing || error instanceof GoMissing;
  console.error(missing ? error.message : error instanceof Error ? error.stack : error);
  console.log('0 passed, 1 failed');
  process.exitCode = missing ? 2 : 1;
});
