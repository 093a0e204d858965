/** How the process behaves: health, logs, metrics, drain, and the crash points of tests. */

import { CRASH_POINTS, type CrashPoint, METRICS_NAMESPACE, METRICS_SERVICE } from '../contract';
import { CHOICES, NUMBERS } from '../contract/setting-values';
import type { Reader } from './reader';

export interface ProcessConfig {
  readonly healthHost: string;
  /** 0: any free port; the log says which. */
  readonly healthPort: number;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
  /** `emf`: lines for CloudWatch on stdout; `json`: the same figures as plain JSON. */
  readonly metricsFormat: 'none' | 'emf' | 'json';
  /** Between two of those lines. The constructs' alarms look at minutes, so a longer time is refused. */
  readonly metricsIntervalMs: number;
  readonly metricsNamespace: string;
  readonly metricsService: string;
  /** From the first SIGTERM to a forced exit. */
  readonly drainTimeoutMs: number;
  /** Absent: never. Only tests set it. */
  readonly crashAt?: { readonly point: CrashPoint; readonly nth: number };
}

/** The stop timeout that the constructs give the platform. */
export const PLATFORM_STOP_TIMEOUT_MS = 120_000;

export function readProcess(reader: Reader, stripe: { mode: 'test' | 'live'; timeoutMs: number }): ProcessConfig {
  const drainTimeoutMs = reader.milliseconds('DRAIN_TIMEOUT_MS', NUMBERS.DRAIN_TIMEOUT_MS);
  if (drainTimeoutMs >= PLATFORM_STOP_TIMEOUT_MS) {
    reader.problem('DRAIN_TIMEOUT_MS', {
      allowed: `less than ${PLATFORM_STOP_TIMEOUT_MS}, the platform's stop timeout`,
      wayOut: 'Leave it out for 100000: the platform would kill the worker before it gives its leases back.',
    });
  } else if (drainTimeoutMs < stripe.timeoutMs) {
    reader.warn(
      'DRAIN_TIMEOUT_MS',
      `${drainTimeoutMs} is less than STRIPE_TIMEOUT_MS: slow charges are cut off at a stop and finished by another worker`,
    );
  }
  const crashAt = readCrashAt(reader, stripe.mode);
  return {
    healthHost: reader.optional('HEALTH_HOST') ?? '0.0.0.0',
    healthPort: reader.number('HEALTH_PORT', { min: 0, max: 65_535, fallback: 8080, unit: 'a TCP port' }),
    logLevel: reader.oneOf('LOG_LEVEL', CHOICES.LOG_LEVEL.choices, CHOICES.LOG_LEVEL.fallback),
    metricsFormat: reader.oneOf('METRICS_FORMAT', ['none', 'emf', 'json'] as const, 'none'),
    metricsIntervalMs: reader.milliseconds('METRICS_INTERVAL_MS', NUMBERS.METRICS_INTERVAL_MS),
    metricsNamespace: reader.optional('METRICS_NAMESPACE') ?? METRICS_NAMESPACE,
    metricsService: reader.optional('METRICS_SERVICE') ?? METRICS_SERVICE,
    drainTimeoutMs,
    ...(crashAt === undefined ? {} : { crashAt }),
  };
}

function readCrashAt(reader: Reader, mode: 'test' | 'live'): ProcessConfig['crashAt'] {
  const value = reader.optional('CHARGEONCE_CRASH_AT');
  if (value === undefined) return undefined;
  if (mode === 'live') {
    return reader.problem('CHARGEONCE_CRASH_AT', {
      allowed: 'nothing in live mode',
      wayOut: 'It kills the process on purpose: take it away.',
    });
  }
  const [, name, nth] = /^([a-z-]+)(?::([1-9]\d{0,5}))?$/.exec(value) ?? [];
  const point = CRASH_POINTS.find((each) => each === name);
  if (point === undefined) {
    return reader.problem('CHARGEONCE_CRASH_AT', {
      allowed: `one of ${CRASH_POINTS.join(', ')}, with :n for the n-th time it is reached`,
      wayOut: 'Only tests set it.',
    });
  }
  return { point, nth: Number(nth ?? '1') };
}
