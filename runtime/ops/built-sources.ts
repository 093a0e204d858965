/** Which sources this build can read. */
import { SOURCES, type SourceName } from '../config';

/** Baked into the bundles; undefined when the sources run as they are. */
declare const CHARGEONCE_SOURCES: readonly SourceName[] | undefined;

/** Never empty. The first one is meant where SOURCE is not set. */
export function builtSources(): readonly SourceName[] {
  return typeof CHARGEONCE_SOURCES === 'undefined' ? SOURCES : CHARGEONCE_SOURCES;
}
