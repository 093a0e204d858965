/**
 * How the process ends. The first SIGTERM or SIGINT asks for a drain; a second one, or a drain that takes too long,
 * ends it at once. An error nobody caught ends it too: a worker in an unknown state must not charge.
 */
import type { Log } from '../processor/ports';

export interface SignalOptions {
  readonly log: Log;
  readonly drainTimeoutMs: number;
}

export interface Signals {
  /** Aborts at the first signal: stop intake, finish what is in flight, release, exit. */
  readonly drain: AbortSignal;
  /** Asks for the same drain from inside. */
  stop(reason: string): void;
  /** Takes the handlers away again. */
  dispose(): void;
}

export function onSignals(options: SignalOptions): Signals {
  const { log, drainTimeoutMs } = options;
  const controller = new AbortController();
  let deadline: NodeJS.Timeout | undefined;
  const stop = (reason: string) => {
    if (controller.signal.aborted) return;
    log.info({ reason, drainTimeoutMs }, 'draining: no new work is taken');
    deadline = setTimeout(() => {
      log.error({ drainTimeoutMs }, 'the drain took too long: exiting; another worker finishes what is open');
      process.exit(1);
    }, drainTimeoutMs);
    controller.abort();
  };
  const onSignal = (name: NodeJS.Signals) => {
    if (controller.signal.aborted) {
      log.warn({ signal: name }, 'second signal: exiting at once; another worker finishes what is open');
      process.exit(1);
    }
    stop(name);
  };
  const onError = (err: unknown) => {
    log.error({ err }, 'an error that nothing caught: exiting, because the state of this process is unknown');
    process.exit(1);
  };
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  process.on('uncaughtException', onError).on('unhandledRejection', onError);
  return {
    drain: controller.signal,
    stop,
    dispose() {
      clearTimeout(deadline);
      process.off('SIGTERM', onSignal).off('SIGINT', onSignal);
      process.off('uncaughtException', onError).off('unhandledRejection', onError);
    },
  };
}
