/** The worker processes of a run: the bundle that the construct deploys, started as ECS would start it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream, readFileSync, type WriteStream } from 'node:fs';
import { join } from 'node:path';
import { systemHost } from '../../runtime/host';
import { freePort } from '../../test/emulators/free-port';

export interface WorkerOptions {
  readonly bundle: string;
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Where each worker's log is written. */
  readonly logFolder: string;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** The worker did not come up or could not do its work; the message has its own words. */
export class WorkerError extends Error {
  override readonly name = 'WorkerError';
}

export class Worker {
  readonly exited: Promise<Exit>;
  #exit: Exit | undefined;
  #lastLines: string[] = [];
  #peakKilobytes = 0;

  private constructor(
    readonly name: string,
    readonly port: number,
    private readonly child: ChildProcess,
    logFile: WriteStream,
  ) {
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        logFile.write(chunk);
        this.#lastLines = [...this.#lastLines, ...chunk.toString().trimEnd().split('\n')].slice(-15);
      });
    }
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        this.#exit = { code, signal };
        logFile.end();
        resolve(this.#exit);
      });
    });
  }

  static async start(name: string, options: WorkerOptions, extra: Readonly<Record<string, string>> = {}) {
    const port = await freePort();
    const child = spawn(process.execPath, [options.bundle, ...options.command], {
      cwd: options.logFolder,
      // Nothing of this shell's environment: a worker knows what its container is given.
      env: { PATH: process.env.PATH ?? '', ...options.environment, HEALTH_PORT: String(port), ...extra },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return new Worker(name, port, child, createWriteStream(join(options.logFolder, `${name}.log`), { flags: 'a' }));
  }

  get exit(): Exit | undefined {
    return this.#exit;
  }

  get pid(): number {
    return this.child.pid ?? -1;
  }

  /** VmHWM: the most memory it ever held, in MB. 0 where the system does not say. */
  get peakMegabytes(): number {
    try {
      const status = readFileSync(`/proc/${this.pid}/status`, 'utf8');
      this.#peakKilobytes = Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? this.#peakKilobytes);
    } catch {
      // Ended, or no /proc on this system: the last figure stands.
    }
    return Math.round(this.#peakKilobytes / 1024);
  }

  async ready(timeoutMs: number): Promise<void> {
    const until = systemHost.monotonic() + timeoutMs;
    let reason = 'it did not answer';
    while (systemHost.monotonic() < until) {
      if (this.#exit) throw new WorkerError(`${this.name} ended (${describeExit(this.#exit)}):\n${this.tail()}`);
      const response = await fetch(`http://127.0.0.1:${this.port}/readyz`).catch(() => undefined);
      if (response?.ok) return;
      if (response) reason = (await response.text()).trim();
      await systemHost.sleep(100);
    }
    throw new WorkerError(`${this.name} was not ready after ${timeoutMs / 1000} s: ${reason}\n${this.tail()}`);
  }

  /** Sums a metric over its labels; `labels` restricts them. Undefined when the worker does not answer. */
  async metric(name: string, labels: Readonly<Record<string, string>> = {}): Promise<number | undefined> {
    const response = await fetch(`http://127.0.0.1:${this.port}/metrics`).catch(() => undefined);
    if (!response?.ok) return undefined;
    let sum = 0;
    for (const line of (await response.text()).split('\n')) {
      const [, found, labelText = '', value] = /^([a-z_]+)(\{[^}]*\})?\s+(\S+)$/.exec(line) ?? [];
      if (found !== name) continue;
      const matches = Object.entries(labels).every(([key, wanted]) => labelText.includes(`${key}="${wanted}"`));
      if (matches) sum += Number(value);
    }
    return sum;
  }

  /** SIGTERM; answers how it ended. Killed when it takes longer. */
  async stop(timeoutMs: number): Promise<Exit> {
    if (this.#exit) return this.#exit;
    void this.peakMegabytes;
    this.child.kill('SIGTERM');
    const late = new AbortController();
    void systemHost.sleep(timeoutMs, late.signal).then(() => {
      if (!late.signal.aborted) this.child.kill('SIGKILL');
    });
    const exit = await this.exited;
    late.abort();
    return exit;
  }

  kill(): void {
    this.child.kill('SIGKILL');
  }

  tail(): string {
    return this.#lastLines.map((line) => `    | ${line}`).join('\n');
  }
}

export function describeExit(exit: Exit): string {
  return exit.signal ? exit.signal : `exit code ${exit.code}`;
}
