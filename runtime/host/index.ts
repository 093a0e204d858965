export { type CrashAt, crashPoints } from './crash';
export { type HealthServer, type HealthServerOptions, startHealthServer } from './health-server';
export { keepHeapSmall } from './heap';
export { type Host, systemHost } from './host';
export { createLog, type LogOptions } from './log';
export { createMetrics, type ProcessMetrics } from './metrics';
export { type MetricsLinesOptions, writeMetricsLines } from './metrics-lines';
export { exitNow, type Shell, systemShell } from './shell';
export { onSignals, type SignalOptions, type Signals } from './signals';
