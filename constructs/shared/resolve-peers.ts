import { createRequire } from 'node:module';

/**
 * Looks whether what a subpath needs is installed: peers are optional, since users of another cloud need none of them, so
 * npm does not ask for them. Nothing is loaded.
 *
 * @param subpath as users import it
 * @param peers what it needs, in the order of the command that installs them
 * @param required those that are looked for; absent: all
 * @throws when one is missing, with the command
 */
export function resolvePeers(subpath: string, peers: readonly string[], required: readonly string[] = peers): void {
  for (const peer of required) {
    try {
      createRequire(__filename).resolve(`${peer}/package.json`);
    } catch (cause) {
      throw new Error(`${subpath} needs ${peer}. Install it: npm install ${peers.join(' ')}`, { cause });
    }
  }
}
