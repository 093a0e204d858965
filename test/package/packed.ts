/** The package as npm would publish it, and projects of users that depend on it. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { buildImages } from '../../runtime/image/build';
import { keepFolder } from '../support/kept-folder';

export const ROOT = join(__dirname, '../..');

/** Kept between files and runs, and with `node_modules` when CI keeps that. */
const CACHE = join(ROOT, 'node_modules/.cache/chargeonce');
const KEPT = 3;
/** All that the tarball is made of. */
const MADE_OF = [
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'README.md',
  'CHANGELOG.md',
  'LICENSE',
  'constructs',
  'runtime',
  'test/emulators',
  'test/package/packed.ts',
];

export interface Packed {
  readonly tarball: string;
  readonly bytes: number;
  /** Paths inside, sorted. */
  readonly files: readonly string[];
  /** A project that depends on the tarball and on nothing else; to be copied, not to be written to. */
  readonly bare: string;
}

/** Compiles, bundles, packs and installs, unless the same sources were packed before. Nobody's `dist` is touched. */
export async function pack(): Promise<Packed> {
  const hash = createHash('sha256');
  for (const name of MADE_OF) addTo(hash, join(ROOT, name));
  return cached(`package-${hash.digest('hex').slice(0, 16)}`, async (folder) => {
    const stage = join(folder, 'stage');
    mkdirSync(stage);
    for (const name of ['package.json', 'README.md', 'CHANGELOG.md', 'LICENSE'])
      cpSync(join(ROOT, name), join(stage, name));
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    run(ROOT, process.execPath, [tsc, '-p', 'tsconfig.build.json', '--outDir', join(stage, 'dist')]);
    // Bundled as if the folder were the repository: the sources are seen through a link, the output stays here.
    symlinkSync(join(ROOT, 'runtime'), join(stage, 'runtime'));
    await buildImages(stage);
    const [made] = JSON.parse(run(stage, 'npm', ['pack', '--ignore-scripts', '--json'])) as [
      { filename: string; size: number; files: { path: string }[] },
    ];
    const tarball = join(folder, 'chargeonce.tgz');
    renameSync(join(stage, made.filename), tarball);
    rmSync(stage, { recursive: true });
    npmInstall(join(folder, 'bare'), { chargeonce: 'file:../chargeonce.tgz' });
    const files = made.files.map((file) => file.path).sort();
    writeFileSync(join(folder, 'packed.json'), JSON.stringify({ bytes: made.size, files }));
  }).then((folder) => {
    const { bytes, files } = JSON.parse(readFileSync(join(folder, 'packed.json'), 'utf8')) as Packed;
    return { bytes, files, tarball: join(folder, 'chargeonce.tgz'), bare: join(folder, 'bare') };
  });
}

/** Tools that users have and we have not, at exact versions; answers where they are installed. */
export function tools(name: string, packages: Readonly<Record<string, string>>): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(packages)).digest('hex').slice(0, 16);
  return cached(`${name}-${hash}`, async (folder) => npmInstall(folder, packages));
}

function npmInstall(folder: string, dependencies: Readonly<Record<string, string>>): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }));
  run(folder, 'npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline']);
}

/** A folder of the cache, made whole or not at all: whoever runs beside this one, or is interrupted, leaves no half. */
async function cached(name: string, make: (folder: string) => Promise<void>): Promise<string> {
  const home = join(CACHE, name);
  if (existsSync(home)) return home;
  mkdirSync(CACHE, { recursive: true });
  const fresh = mkdtempSync(join(CACHE, `${name}.new-`));
  try {
    await make(fresh);
    keepFolder(fresh, home);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  prune(name.split('-')[0]!);
  return home;
}

/** Every change of a source makes another tarball; the last ones are enough. */
function prune(kind: string): void {
  const made = readdirSync(CACHE).filter((name) => name.startsWith(`${kind}-`) && !name.includes('.new-'));
  const newestFirst = made.sort((a, b) => statSync(join(CACHE, b)).mtimeMs - statSync(join(CACHE, a)).mtimeMs);
  for (const name of newestFirst.slice(KEPT)) rmSync(join(CACHE, name), { recursive: true, force: true });
}

function addTo(hash: ReturnType<typeof createHash>, path: string): void {
  if (!statSync(path).isDirectory()) {
    hash.update(`${path.slice(ROOT.length)}\0`).update(readFileSync(path));
    return;
  }
  for (const name of readdirSync(path).sort()) addTo(hash, join(path, name));
}

/** A project of a user's own in a folder: the tarball, and links to our copies of some packages (200 MB once). */
export function project(
  packed: Pick<Packed, 'bare'>,
  folder: string,
  packages: readonly string[] = [],
  from = ROOT,
): string {
  if (!existsSync(folder)) cpSync(packed.bare, folder, { recursive: true, verbatimSymlinks: true });
  for (const each of packages) {
    const link = join(folder, 'node_modules', each);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(from, 'node_modules', each), link);
  }
  return folder;
}

/** A compiler that is unhappy says so for every file of a library. */
const MOST_SHOWN = 4_000;

/** Standard output of a program; throws with what it wrote when it fails. */
export function run(cwd: string, program: string, args: readonly string[]): string {
  try {
    return execFileSync(program, args, {
      cwd,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      maxBuffer: 64 * 1024 * 1024,
    });
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string };
    const wrote = [stdout, stderr].map((text) => (text ?? '').slice(0, MOST_SHOWN)).join('\n');
    throw new Error(`${program} ${args.join(' ')} failed\n${wrote}`);
  }
}
