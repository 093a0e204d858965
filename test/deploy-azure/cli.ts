/** Pulumi's own command line, built from its Go module as pinned in `cli/`: once for each pin, then reused. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { keepFolder } from '../support/kept-folder';

const MODULE = join(__dirname, 'cli');
const CACHE = join(__dirname, '../../node_modules/.cache/chargeonce');
const PACKAGE = 'github.com/pulumi/pulumi/pkg/v3/cmd/pulumi';
const VERSION_VARIABLE = 'github.com/pulumi/pulumi/sdk/v3/go/common/version.Version';
const PROGRESS_MS = 20_000;
/** Two compilers at a time need 1.7 GB of memory; more would need it for each. */
const PARALLEL = 2;

/** This machine cannot build the command line; the message says what is missing and how it comes. */
export class GoMissing extends Error {
  override readonly name = 'GoMissing';
}

/**
 * The path of `pulumi`, from the cache or built now: 5 to 6 minutes on two cores, and 1.7 GB of sources the first time.
 *
 * @param say Told what takes long, several times a minute.
 * @throws {GoMissing} When there is no Go, it is too old, or the sources cannot be fetched or compiled.
 */
export async function pulumiCli(say: (line: string) => void = () => {}): Promise<string> {
  const pins = readFileSync(join(MODULE, 'go.mod'), 'utf8');
  const go = await goVersion(pinned(pins, /^go (\S+)$/m));
  const key = createHash('sha256')
    .update(go)
    .update(pins)
    .update(readFileSync(join(MODULE, 'go.sum')));
  const folder = join(CACHE, `pulumi-${key.digest('hex').slice(0, 12)}`);
  const binary = join(folder, 'pulumi');
  if (!existsSync(binary)) await build(folder, pinned(pins, /\/pulumi\/pkg\/v3 (v\S+)$/m), go, say);
  return binary;
}

function pinned(goMod: string, pattern: RegExp): string {
  const [, value] = pattern.exec(goMod) ?? [];
  if (value === undefined) throw new Error(`test/deploy-azure/cli/go.mod has no line like ${pattern}`);
  return value;
}

async function goVersion(oldest: string): Promise<string> {
  const { code, output } = await go(['env', 'GOVERSION']);
  const found = output.trim();
  const way = `Install Go ${oldest} or newer (https://go.dev/dl/), so that \`go version\` answers.`;
  if (code !== 0) throw new GoMissing(`Pulumi's command line is built from its Go module, and there is no Go. ${way}`);
  const version = /^go(\d+)\.(\d+)(?:\.(\d+))?/.exec(found);
  if (version === null || isOlder(version.slice(1), oldest.split('.'))) {
    throw new GoMissing(`Pulumi's command line is built with Go ${oldest} or newer; here it is ${found}. ${way}`);
  }
  return found;
}

function isOlder(found: readonly (string | undefined)[], oldest: readonly string[]): boolean {
  for (const [index, part] of oldest.entries()) {
    const difference = Number(found[index] ?? 0) - Number(part);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

/** Made under another name and renamed at the end, so that what is found is complete. */
async function build(folder: string, version: string, go_: string, say: (line: string) => void): Promise<void> {
  mkdirSync(CACHE, { recursive: true });
  const making = mkdtempSync(`${folder}.new-`);
  const args = [
    ...['build', '-mod=readonly', '-buildvcs=false', '-p', String(PARALLEL)],
    ...['-ldflags', `-s -w -X ${VERSION_VARIABLE}=${version}`, '-o', join(making, 'pulumi'), PACKAGE],
  ];
  say(`building Pulumi ${version} with ${go_}, once: about 6 minutes on two cores`);
  const started = performance.now();
  const beat = setInterval(() => {
    say(`still building Pulumi ${version}: ${((performance.now() - started) / 1_000).toFixed(0)} s`);
  }, PROGRESS_MS);
  try {
    const { code, output } = await go(args, say);
    if (code !== 0) {
      throw new GoMissing(
        `Pulumi ${version} cannot be built with ${go_} (does it reach its module proxy, GOPROXY?).\n` +
          `In test/deploy-azure/cli: go ${args.map((arg) => (arg.includes(' ') ? `'${arg}'` : arg)).join(' ')}\n${output}`,
      );
    }
    keepFolder(making, folder);
  } finally {
    clearInterval(beat);
    rmSync(making, { recursive: true, force: true });
  }
}

/** Everything that it wrote, and its exit code; 127 when there is no such command. Downloads are passed on to `say`. */
function go(args: readonly string[], say?: (line: string) => void): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    const child = spawn('go', args, {
      cwd: MODULE,
      // Never another Go than the one that is asked for its version, and no flags of the user's.
      env: { ...process.env, GOTOOLCHAIN: 'local', GOFLAGS: '', GOWORK: 'off' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    let downloads = 0;
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        if (!line.startsWith('go: downloading ')) output += `${line}\n`;
        else if (downloads++ % 50 === 0) say?.(line.slice('go: '.length));
      });
    }
    child.once('error', (error) => resolve({ code: 127, output: error.message }));
    child.once('close', (code) => resolve({ code, output }));
  });
}
