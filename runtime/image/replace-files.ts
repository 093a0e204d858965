/** Files of a folder that others read and build meanwhile. */
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Puts files into a folder. Whoever reads one at this moment gets it whole, the old or the new; whoever builds at this
 * moment has the new ones in a folder of its own: beside this one, of which fingerprints are taken.
 */
export function replaceFiles(folder: string, files: ReadonlyMap<string, Uint8Array>): void {
  mkdirSync(folder, { recursive: true });
  const fresh = mkdtempSync(`${folder}.new-`);
  try {
    for (const [name, contents] of files) writeFileSync(join(fresh, name), contents);
    for (const name of files.keys()) renameSync(join(fresh, name), join(folder, name));
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}
