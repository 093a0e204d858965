/** Virtual environments of Python for the deploy tests: made once for each requirements file, then reused. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { keepFolder } from '../support/kept-folder';

const CACHE = join(__dirname, '../../node_modules/.cache/chargeonce');
const OLDEST = [3, 10] as const;

/** The emulator with what it needs, and the linters of templates. */
export const REQUIREMENTS = ['requirements.txt', 'requirements-lint.txt'] as const;

/** This machine cannot make the environment; the message says what is missing and how it comes. */
export class PythonMissing extends Error {
  override readonly name = 'PythonMissing';
}

export interface PythonEnvironment {
  /** The interpreter. */
  readonly python: string;
  /** A script that a package brought, to be run as `python <script>`: its first line names a folder that is gone. */
  script(name: string): string;
}

/**
 * The environment with exactly what the file pins, from the cache or made now.
 *
 * @param requirements File in this folder, with hashes.
 * @param say Told what takes long.
 * @throws {PythonMissing} When there is no Python, no `venv`, or the packages cannot be installed.
 */
export async function pythonEnvironment(
  requirements: (typeof REQUIREMENTS)[number],
  say: (line: string) => void = () => {},
): Promise<PythonEnvironment> {
  const file = join(__dirname, requirements);
  const version = await pythonVersion();
  const key = createHash('sha256').update(version).update(readFileSync(file)).digest('hex').slice(0, 12);
  const folder = join(CACHE, `python-${key}`);
  if (!existsSync(folder)) {
    say(`installing ${requirements} for ${version} (once)`);
    await install(file, folder);
  }
  return { python: join(folder, 'bin', 'python'), script: (name) => join(folder, 'bin', name) };
}

async function pythonVersion(): Promise<string> {
  const { code, output } = await run('python3', ['--version']);
  const version = output.trim();
  const [, major, minor] = /^Python (\d+)\.(\d+)/.exec(version) ?? [];
  if (code === 0 && Number(major) === OLDEST[0] && Number(minor) >= OLDEST[1]) return version;
  const found = code === 0 ? `\`python3 --version\` says ${JSON.stringify(version)}` : 'There is no `python3`';
  throw new PythonMissing(
    `${found}. The AWS emulator needs Python >= ${OLDEST.join('.')}: install python3 and python3-venv.`,
  );
}

/** Made under another name and renamed at the end, so that what is found is complete. */
async function install(file: string, folder: string): Promise<void> {
  mkdirSync(CACHE, { recursive: true });
  const making = mkdtempSync(`${folder}.new-`);
  try {
    const made = await run('python3', ['-m', 'venv', making]);
    if (made.code !== 0) {
      throw new PythonMissing(
        `\`python3 -m venv\` does not work here: install python3-venv (or the like) of your system.\n${made.output}`,
      );
    }
    const pip = ['-m', 'pip', 'install', '--disable-pip-version-check', '-q', '--require-hashes', '-r', file];
    const installed = await run(join(making, 'bin', 'python'), pip);
    if (installed.code !== 0) {
      throw new PythonMissing(`pip cannot install ${file}: does it reach its index?\n${installed.output}`);
    }
    keepFolder(making, folder);
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
}

/** Everything a command wrote, and its exit code; 127 when there is no such command. */
function run(command: string, args: readonly string[]): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const append = (chunk: Buffer) => {
      output += chunk.toString();
    };
    child.stdout.on('data', append);
    child.stderr.on('data', append);
    child.once('error', (error) => resolve({ code: 127, output: error.message }));
    child.once('close', (code) => resolve({ code, output }));
  });
}
