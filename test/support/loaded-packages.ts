/** Which packages a module of ours drags in. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { build } from 'esbuild';

const ROOT = join(__dirname, '../..');
const PACKAGE = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/;

/** Files in memory after a module was required, in a process of its own. */
export function loadedFiles(module: string): string[] {
  const script = `
    require(${JSON.stringify(join(ROOT, module))});
    process.stdout.write(JSON.stringify(Object.keys(require.cache)));
  `;
  const stdout = execFileSync(process.execPath, ['--require', 'tsx/cjs', '-e', script], {
    cwd: ROOT,
    encoding: 'utf8',
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '' },
    timeout: 50_000,
  });
  return JSON.parse(stdout) as string[];
}

/** Packages in memory after a module was required, in a process of its own. */
export const loadedBy = (module: string): string[] => packagesOf(loadedFiles(module));

/** Packages that a module can ever reach, lazily or not; those that match `external` are named and not looked into. */
export async function reachedBy(module: string, external: readonly string[]): Promise<string[]> {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: [module],
    bundle: true,
    platform: 'node',
    write: false,
    metafile: true,
    logLevel: 'error',
    external: ['pg-native', ...external],
  });
  const outside = Object.values(metafile.outputs).flatMap((output) => output.imports.map((each) => each.path));
  return [...packagesOf(Object.keys(metafile.inputs)), ...outside];
}

const packagesOf = (files: readonly string[]) => [
  ...new Set(files.map((file) => PACKAGE.exec(file)?.[1]).filter((name) => name !== undefined)),
];

export const matching = (packages: readonly string[], pattern: RegExp) => packages.filter((name) => pattern.test(name));

/** Uses a module of this source, which lies where ours do. */
export async function planted<T>(source: string, use: (module: string) => T | Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(ROOT, 'node_modules/.planted-'));
  try {
    writeFileSync(join(folder, 'index.ts'), source);
    return await use(relative(ROOT, join(folder, 'index.ts')));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
