/** Finds names that look like a setting misspelt, since a misspelt optional setting is silently ignored otherwise. */
import { ENVIRONMENT, type EnvironmentName } from './environment';
import { nearest } from './nearest';

/** Variables of other programs that resemble ours. */
const FOREIGN = new Set(['PGPASSFILE', 'PGSSLCERT', 'PGSSLKEY', 'PGSSLCRL', 'PGTZ', 'HOSTNAME']);

/** The setting that somebody probably meant; nothing when the name is one, or is like none. */
export function meantSetting(name: string): EnvironmentName | undefined {
  if (Object.hasOwn(ENVIRONMENT, name) || FOREIGN.has(name)) return undefined;
  const known = Object.values(ENVIRONMENT);
  return nearest(name.toUpperCase(), known, Math.min(2, Math.floor(name.length / 4)));
}
