/** A log for verbs that people run: warnings and errors in words on stderr, nothing else. */
import { redactSecrets } from '../config';
import type { Shell } from '../host';
import type { Log } from '../processor/ports';

export function stderrLog(shell: Shell): Log {
  const say = (level: string) => (fields: object, message: string) => {
    const { err, error } = fields as { err?: unknown; error?: unknown };
    const cause = err ?? error;
    const why = cause === undefined ? '' : `: ${cause instanceof Error ? cause.message : String(cause)}`;
    shell.err(`${level}: ${redactSecrets(`${message}${why}`)}\n`);
  };
  const silent = () => undefined;
  return { debug: silent, info: silent, warn: say('warning'), error: say('error') };
}
