/** A Kinesis source run inside the test, with everything it says and does kept. */
import { systemHost } from '../../runtime/host/host';
import type { AwsClients, KinesisSourceOptions } from '../../runtime/sources/kinesis';
import { createKinesisSource } from '../../runtime/sources/kinesis';
import { KeptLog } from './quiet';
import { RecordingConsumer, RecordingMetrics } from './recording-consumer';

export interface TestWorker {
  readonly consumer: RecordingConsumer;
  readonly log: KeptLog;
  readonly metrics: RecordingMetrics;
  notReady(): string | undefined;
  /** How often it has looked at the lease table. */
  looks(): number;
  /** Resolves when the source has drained. */
  stop(): Promise<void>;
  /** What `run` became; rejects when it failed. */
  readonly running: Promise<void>;
}

export type TestWorkerOptions = Pick<KinesisSourceOptions, 'leaseTableName' | 'workerId'> &
  Partial<KinesisSourceOptions> & { readonly clients: AwsClients; readonly consumer?: RecordingConsumer };

/** Short leases and fast polling, so that tests are fast; anything can be overridden. */
export function startWorker(options: TestWorkerOptions): TestWorker {
  const { clients, consumer = new RecordingConsumer(), ...rest } = options;
  const log = new KeptLog();
  const metrics = new RecordingMetrics();
  const source = createKinesisSource({
    leaseDurationMs: 1_500,
    pollIntervalMs: 200,
    drainTimeoutMs: 5_000,
    kinesis: clients.kinesis,
    dynamodb: clients.dynamodb,
    host: systemHost,
    log,
    metrics,
    ...rest,
  });
  const stop = new AbortController();
  const running = source.run(consumer, stop.signal);
  running.catch(() => undefined);
  return {
    consumer,
    log,
    metrics,
    running,
    notReady: () => source.notReady(),
    looks: () => metrics.settings.get('foreignItems') ?? 0,
    stop: async () => {
      stop.abort();
      await running;
    },
  };
}
