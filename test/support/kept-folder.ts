/** Folders that are made once and kept between runs, by tests that may run beside each other. */
import { existsSync, renameSync } from 'node:fs';

/** Gives a folder that is complete its name, in one step. Who comes second finds the first one's, and leaves it. */
export function keepFolder(made: string, home: string): void {
  try {
    renameSync(made, home);
  } catch (error) {
    if (!existsSync(home)) throw error;
  }
}
