/** Runs `npm start` as a user would, with --json, and reads its verdict. */
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Report } from '../../stacks/local/report';

const ROOT = join(__dirname, '..', '..');

export interface LocalRun {
  readonly code: number | null;
  /** Undefined when it could not run. */
  readonly report: Report | undefined;
  readonly screen: string;
}

/** A run that fails keeps its workers' logs: not wanted where it was to fail. */
export function forgetLogs({ screen }: LocalRun): void {
  const [, folder] = /The workers' logs: (\S+)/.exec(screen) ?? [];
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
}

export function localRun(...flags: string[]): Promise<LocalRun> {
  return startLocalRun(...flags).ended;
}

/** `printed`: resolves when the screen shows the text. */
export function startLocalRun(...flags: string[]) {
  const child = spawn(process.execPath, ['--import', 'tsx', join(ROOT, 'stacks/local/main.ts'), '--json', ...flags], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let screen = '';
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    screen += chunk;
  });
  const closed = new Promise<number | null>((resolve) => child.once('close', resolve));
  const ended = closed.then((code): LocalRun => {
    // One document and nothing else: a second line would not parse.
    const report = stdout.trim() === '' ? undefined : (JSON.parse(stdout) as Report);
    return { code, report, screen };
  });
  const printed = (text: string) =>
    new Promise<void>((resolve, reject) => {
      const look = () => screen.includes(text) && resolve();
      child.stderr.on('data', look);
      closed.then(() => reject(new Error(`It ended before it printed ${JSON.stringify(text)}:\n${screen}`)));
      look();
    });
  return { ended, printed, stop: () => child.kill('SIGTERM') };
}
