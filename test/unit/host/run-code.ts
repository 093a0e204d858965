/** Runs a few lines in a process of their own, because they end it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';

const ROOT = join(__dirname, '..', '..', '..');

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
}

export interface Running {
  readonly child: ChildProcess;
  /** What stdout had so far. */
  out(): string;
  /** Resolves when stdout contains the text; rejects when the process ends without it. */
  printed(text: string): Promise<void>;
  readonly ended: Promise<Ended>;
}

/** Inside the code `runtime(path)` loads a module of runtime/, and `host` is runtime/host. */
export function runCode(code: string, env: Record<string, string> = {}): Running {
  const preamble = [
    `const runtime = (path) => require(${JSON.stringify(join(ROOT, 'runtime'))} + '/' + path);`,
    `const host = runtime('host');`,
  ].join('\n');
  const args = ['--require', 'tsx/cjs', '-e', `${preamble}\n${code}`];
  const child = spawn(process.execPath, args, { cwd: ROOT, env: { PATH: process.env.PATH, ...env } });
  let out = '';
  let err = '';
  const waiting = new Set<() => void>();
  child.stdout.on('data', (chunk) => {
    out += String(chunk);
    for (const check of waiting) check();
  });
  child.stderr.on('data', (chunk) => {
    err += String(chunk);
  });
  const ended = new Promise<Ended>((resolve) => {
    child.once('close', (exitCode, signal) => resolve({ code: exitCode, signal, out, err }));
  });
  const printed = (text: string) =>
    new Promise<void>((resolve, reject) => {
      const check = () => out.includes(text) && resolve();
      waiting.add(check);
      check();
      ended.then(() => reject(new Error(`ended without printing ${text}: ${out}${err}`)));
    });
  return { child, out: () => out, printed, ended };
}
