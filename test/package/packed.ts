/** The package as npm would publish it, made in a folder of its own so that nobody's `dist` is touched. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { buildImages } from '../../runtime/image/build';

export const ROOT = join(__dirname, '../..');

export interface Packed {
  readonly folder: string;
  readonly tarball: string;
  readonly bytes: number;
  /** Paths inside, sorted. */
  readonly files: readonly string[];
}

/** Compiles, bundles and packs, in a folder that exists. */
export async function pack(folder: string): Promise<Packed> {
  const stage = join(folder, 'stage');
  mkdirSync(stage);
  for (const name of ['package.json', 'README.md', 'CHANGELOG.md', 'LICENSE'])
    cpSync(join(ROOT, name), join(stage, name));
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  run(ROOT, process.execPath, [tsc, '-p', 'tsconfig.build.json', '--outDir', join(stage, 'dist')]);
  // Bundled as if the folder were the repository: the sources are seen through a link, the output stays here.
  symlinkSync(join(ROOT, 'runtime'), join(stage, 'runtime'));
  await buildImages(stage);
  const [packed] = JSON.parse(run(stage, 'npm', ['pack', '--ignore-scripts', '--json'])) as [
    { filename: string; size: number; files: { path: string }[] },
  ];
  const files = packed.files.map((file) => file.path).sort();
  return { folder, tarball: join(stage, packed.filename), bytes: packed.size, files };
}

/** A project of a user's own that depends on the tarball and on nothing else. */
export function install(packed: Packed, name: string): string {
  const project = join(packed.folder, name);
  mkdirSync(project);
  const manifest = { name, private: true, dependencies: { chargeonce: `file:${packed.tarball}` } };
  writeFileSync(join(project, 'package.json'), JSON.stringify(manifest));
  run(project, 'npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline']);
  return project;
}

/** A copy of a project that has our own copies of some packages as well: 200 MB need not be installed twice. */
export function withPackages(packed: Packed, project: string, name: string, packages: readonly string[]): string {
  const copy = join(packed.folder, name);
  cpSync(project, copy, { recursive: true, verbatimSymlinks: true });
  for (const each of packages) {
    const link = join(copy, 'node_modules', each);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', each), link);
  }
  return copy;
}

/** Standard output of a program; throws with everything it wrote when it fails. */
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
    throw new Error(`${program} ${args.join(' ')} failed\n${stdout ?? ''}\n${stderr ?? ''}`, { cause: error });
  }
}
