/** The workers of a run together, and what becomes of them. */
import { systemHost } from '../../runtime/host';
import { describeExit, Worker, type WorkerOptions } from './workers';

export class Fleet {
  readonly workers: Worker[] = [];
  /** Highest VmHWM of any worker that ever ran, in MB. */
  peakMegabytes = 0;
  #next = 1;

  constructor(private readonly options: WorkerOptions) {}

  /** `extra` is only for this process: a crash point, say. */
  async start(extra: Readonly<Record<string, string>> = {}): Promise<Worker> {
    const name = `worker-${this.#next++}`;
    const worker = await Worker.start(name, this.options, { WORKER_ID: name, ...extra });
    this.workers.push(worker);
    return worker;
  }

  get alive(): Worker[] {
    return this.workers.filter((worker) => worker.exit === undefined);
  }

  async sum(metric: string, labels: Readonly<Record<string, string>> = {}): Promise<number> {
    const values = await Promise.all(this.alive.map((worker) => worker.metric(metric, labels)));
    return values.reduce<number>((sum, value) => sum + (value ?? 0), 0);
  }

  /** Whether every live worker says so; one that does not answer does not. */
  async every(metric: string, wanted: number): Promise<boolean> {
    const values = await Promise.all(this.alive.map((worker) => worker.metric(metric)));
    return values.every((value) => value === wanted);
  }

  measure(): void {
    for (const worker of this.alive) this.peakMegabytes = Math.max(this.peakMegabytes, worker.peakMegabytes);
  }

  /** Drains all; answers what was wrong with how they ended. */
  async drain(timeoutMs: number): Promise<string[]> {
    this.measure();
    const stopping = this.alive;
    const exits = await Promise.all(stopping.map((worker) => worker.stop(timeoutMs)));
    return stopping.flatMap((worker, index) => {
      const exit = exits[index];
      if (exit?.code === 0) return [];
      return [`${worker.name} did not drain: ${exit ? describeExit(exit) : 'unknown'}\n${worker.tail()}`];
    });
  }

  killAll(): void {
    for (const worker of this.alive) worker.kill();
  }
}

/** Waits for a condition; answers whether it came true in time. */
export async function until(
  condition: () => Promise<boolean> | boolean,
  timeoutMs: number,
  everyMs = 100,
): Promise<boolean> {
  const deadline = systemHost.monotonic() + timeoutMs;
  for (;;) {
    if (await condition()) return true;
    if (systemHost.monotonic() >= deadline) return false;
    await systemHost.sleep(everyMs);
  }
}
