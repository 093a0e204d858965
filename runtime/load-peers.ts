/**
 * Loads what a subpath needs and npm does not ask for: peers are optional, since users of another source need none of
 * them. Each is loaded by a function of the caller's, not by name, so that a bundler sees it and puts it in.
 *
 * @param subpath as users import it
 * @param also what only some of its users need, for the command that installs all
 * @throws when one is missing, with the command
 */
export function loadPeers(
  subpath: string,
  peers: Readonly<Record<string, () => unknown>>,
  also: readonly string[] = [],
): void {
  for (const [peer, load] of Object.entries(peers)) {
    try {
      load();
    } catch (cause) {
      const { code, message } = cause as NodeJS.ErrnoException;
      // One that is there and lacks a package of its own speaks for itself.
      if (code !== 'MODULE_NOT_FOUND' || !message.includes(`'${peer}'`)) throw cause;
      const all = [...Object.keys(peers), ...also].join(' ');
      throw new Error(`${subpath} needs ${peer}. Install it: npm install ${all}`, { cause });
    }
  }
}
