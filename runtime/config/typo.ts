/** Finds variables that look like ours misspelt, since a misspelt optional setting is silently ignored otherwise. */
import { ENVIRONMENT } from '../contract';
import { nearest } from './nearest';
import type { Environment } from './reader';

/** Variables of other programs that resemble ours. */
const FOREIGN = new Set(['PGPASSFILE', 'PGSSLCERT', 'PGSSLKEY', 'PGSSLCRL', 'PGTZ', 'HOSTNAME']);

export function typoWarnings(env: Environment): string[] {
  const known = Object.values(ENVIRONMENT);
  return Object.keys(env)
    .filter((name) => !Object.hasOwn(ENVIRONMENT, name) && !FOREIGN.has(name) && (env[name] ?? '') !== '')
    .sort()
    .flatMap((name) => {
      const meant = nearest(name.toUpperCase(), known, Math.min(2, Math.floor(name.length / 4)));
      return meant === undefined ? [] : [`${name} is set but nothing reads it. Did you mean ${meant}?`];
    });
}
