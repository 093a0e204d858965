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
  /** Resolves when stdout contains the text; rejects when the process ends without it. */
  printed(text: string): Promise<void>;
  readonly ended: Promise<Ended>;
}

/** `host` is runtime/host inside the code. */
export function runCode(code: string): Running {
  const preamble = `const host = require(${JSON.stringify(join(ROOT, 'runtime', 'host'))});`;
  const child = spawn(process.execPath, ['--require', 'tsx/cjs', '-e', `${preamble}\n${code}`], { cwd: ROOT });
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
  return { child, printed, ended };
}
