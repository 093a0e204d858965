/** JSON lines on stdout through pino. No secret ever gets into a line, whoever wrote it into a message or an error. */
import pino from 'pino';
import { redactSecrets } from '../config/redact';
import type { Log } from '../processor/ports';
import { forLog } from './for-log';

export interface LogOptions {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  /** Takes finished lines, each with its newline. Absent: stdout, written synchronously so that a kill loses no line. */
  readonly destination?: { write(line: string): void };
}

export function createLog(options: LogOptions): Log {
  const logger = pino(
    {
      level: options.level,
      timestamp: pino.stdTimeFunctions.isoTime,
      // The fields are plain values already; pino's own serializer would rename the type of an error.
      serializers: { err: (err: unknown) => err },
      formatters: { level: (label) => ({ level: label }) },
    },
    options.destination ?? pino.destination({ fd: 1, sync: true }),
  );
  const write = (level: LogOptions['level']) => (fields: object, message: string) => {
    if (logger.isLevelEnabled(level)) logger[level](forLog(fields), redactSecrets(message));
  };
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}
