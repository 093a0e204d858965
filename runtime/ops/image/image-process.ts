/** Runs a program without a shell in between, so that no argument can be taken for a command. */
import { spawn } from 'node:child_process';

export interface Ran {
  /** Nothing when it was ended by a signal, its time limit among them. */
  readonly code: number | undefined;
  readonly out: string;
  /** Both streams as they came. */
  readonly all: string;
}

export interface RunOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Gets both streams as they come; absent: nobody watches. */
  readonly onOutput?: (text: string) => void;
  /** Absent: it takes as long as it takes. */
  readonly timeoutMs?: number;
}

/** Resolves however it ends, and with nothing when there is no such program. */
export function runProgram(program: string, args: readonly string[], options: RunOptions): Promise<Ran | undefined> {
  const { env, onOutput, timeoutMs } = options;
  return new Promise((resolve, reject) => {
    const limit = timeoutMs === undefined ? {} : { timeout: timeoutMs, killSignal: 'SIGKILL' as const };
    const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'], ...limit });
    let [out, all] = ['', ''];
    const add = (text: string) => {
      all += text;
      onOutput?.(text);
    };
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
      add(text);
    });
    child.stderr.setEncoding('utf8').on('data', add);
    child.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'EACCES') resolve(undefined);
      else reject(error);
    });
    child.once('close', (code) => resolve({ code: code ?? undefined, out, all }));
  });
}
