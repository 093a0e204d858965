/** `chargeonce consume`: the worker process. */
import { type Config, describeConfig, readConfig } from '../config';
import {
  crashPoints,
  createLog,
  createMetrics,
  type Host,
  onSignals,
  type ProcessMetrics,
  type Shell,
  type Signals,
  startHealthServer,
  writeMetricsLines,
} from '../host';
import { SCHEMA_VERSION } from '../ledger/schema-version';
import type { Log } from '../processor/ports';
import { builtSources } from './built-sources';
import { refuseConfig } from './problems';
import type { Pipeline, RunPipeline } from './run-pipeline';
import type { ExitCode, Verb } from './verb';
import { packageVersion } from './version';

const HELP = `chargeonce consume: read the stream and charge, until SIGTERM

Everything is configured by environment variables; wrong ones are reported together (exit 2).
Serves /healthz, /readyz and /metrics on HEALTH_PORT and logs JSON lines on stdout.

The first SIGTERM or SIGINT drains: no new work is taken, charges in flight finish, checkpoints are
written, leases are given back, exit 0. A second one, or DRAIN_TIMEOUT_MS, exits at once with 1:
nothing is lost, another worker finishes what is open.

When the ledger's schema is too old it waits, not ready, logs what to run (MIGRATE_COMMAND), and goes on by itself.
`;

export function consumeVerb(runPipeline: RunPipeline): Verb {
  return {
    name: 'consume',
    summary: 'read the stream and charge, until SIGTERM',
    help: HELP,
    options: {},
    positionals: { min: 0, max: 0 },
    async run({ shell, host }) {
      const read = readConfig(shell.env, builtSources());
      if (!read.ok) return refuseConfig(shell, read.problems, read.warnings);
      const log = createLog({ level: read.config.process.logLevel });
      for (const warning of read.warnings) log.warn({}, warning);
      const signals = onSignals({ log, drainTimeoutMs: read.config.process.drainTimeoutMs });
      try {
        return await work({ config: read.config, log, signals, shell, host, runPipeline });
      } catch (err) {
        log.error({ err }, 'the worker stops because of an error');
        return 1;
      } finally {
        signals.dispose();
      }
    },
  };
}

interface Worker {
  readonly config: Config;
  readonly log: Log;
  readonly signals: Signals;
  readonly shell: Shell;
  readonly host: Host;
  readonly runPipeline: RunPipeline;
}

async function work(worker: Worker): Promise<ExitCode> {
  const { config, log, signals, host } = worker;
  const metrics = createMetrics({ version: packageVersion(), schema: String(SCHEMA_VERSION) });
  let pipeline: Pipeline | undefined;
  let wasReady = false;
  let startsBy = 'the ledger and Stripe are being checked';
  const notReady = (): string | undefined => {
    if (signals.drain.aborted) return 'draining';
    const whyNot = pipeline === undefined ? `starting: ${startsBy}` : pipeline.notReady();
    wasReady ||= whyNot === undefined;
    return whyNot;
  };
  metrics.observe('ready', () => (notReady() === undefined ? 1 : 0));
  const health = await startHealthServer({
    host: config.process.healthHost,
    port: config.process.healthPort,
    // A deploy that never becomes ready must fail; later an outage of a database or of Stripe must not kill workers.
    live: () => (notReady() === undefined || wasReady || signals.drain.aborted ? undefined : notReady()),
    ready: notReady,
    metrics,
  });
  const lines = startMetricsLines(worker, metrics);
  log.info(
    {
      version: packageVersion(),
      schema: SCHEMA_VERSION,
      source: config.source,
      healthPort: health.port,
      config: describeConfig(config),
    },
    'chargeonce is starting',
  );
  try {
    const crash = crashPoints(config.process.crashAt);
    const waiting = (reason: string) => {
      startsBy = reason;
    };
    const starting = worker.runPipeline(config, { host, log, metrics, crash, signal: signals.drain, waiting });
    pipeline = await unlessAborted(starting, signals.drain);
    if (pipeline === undefined) {
      log.info({}, 'stopped while it was starting: nothing had been taken');
      return 0;
    }
    await pipeline.done;
  } finally {
    await lines.stop();
    await health.close();
  }
  if (!signals.drain.aborted) {
    log.error({}, 'the pipeline ended although nobody asked for it');
    return 1;
  }
  log.info({}, 'drained');
  return 0;
}

/** Undefined when the signal aborts first: what was being waited for (a database that does not answer) is left. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  const aborted = new Promise<undefined>((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  // A start that fails after it was given up has nobody to tell.
  work.catch(() => undefined);
  return Promise.race([work, aborted]);
}

function startMetricsLines(worker: Worker, metrics: ProcessMetrics): { stop(): Promise<void> } {
  const { metricsFormat: format, metricsNamespace: namespace, metricsService: service } = worker.config.process;
  const { metricsIntervalMs: intervalMs } = worker.config.process;
  if (format === 'none') return { stop: async () => undefined };
  const controller = new AbortController();
  const write = worker.shell.out;
  const options = { format, namespace, service, metrics, host: worker.host, write, intervalMs };
  const running = writeMetricsLines(options, controller.signal);
  return {
    async stop() {
      controller.abort();
      await running;
    },
  };
}
