import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Baked into the bundles; undefined when the sources run as they are. */
declare const CHARGEONCE_VERSION: string | undefined;

/** The package's version. */
export function packageVersion(): string {
  if (typeof CHARGEONCE_VERSION === 'string') return CHARGEONCE_VERSION;
  const home = join(__dirname, '..', '..');
  const root = home.endsWith('dist') ? join(home, '..') : home;
  return (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version;
}
