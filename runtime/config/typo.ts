/** Finds variables that look like ours misspelt, since a misspelt optional setting is silently ignored otherwise. */
import { meantSetting } from '../contract/misspelt';
import type { Environment } from './reader';

export function typoWarnings(env: Environment): string[] {
  return Object.keys(env)
    .filter((name) => (env[name] ?? '') !== '')
    .sort()
    .flatMap((name) => {
      const meant = meantSetting(name);
      return meant === undefined ? [] : [`${name} is set but nothing reads it. Did you mean ${meant}?`];
    });
}
