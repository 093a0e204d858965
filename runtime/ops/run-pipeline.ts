/** What the process needs of the pipeline: how it is started, how it ends, whether it is ready. */
import type { Config } from '../config';
import type { Host } from '../host';
import type { Log, Metrics, ReachCrashPoint } from '../processor/ports';

export interface PipelineContext {
  readonly host: Host;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly crash: ReachCrashPoint;
  /** Aborts when the process is to drain. */
  readonly signal: AbortSignal;
  /** Told what the start waits for, when somebody else must do something about it. */
  readonly waiting: (reason: string) => void;
}

export interface Pipeline {
  /** Resolves after the drain; rejects when the pipeline cannot go on. */
  readonly done: Promise<void>;
  /** Nothing when ready, otherwise why not. */
  notReady(): string | undefined;
}

/** Rejects when it cannot start, e.g. because the ledger belongs to another Stripe account. */
export type RunPipeline = (config: Config, context: PipelineContext) => Promise<Pipeline>;
