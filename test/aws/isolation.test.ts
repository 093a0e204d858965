/** What loading one half of the package drags in: never the other half. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';

const ROOT = join(__dirname, '../..');
const PACKAGE = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/;

/** Packages in memory after a module was required, in a process of its own. */
function loadedBy(module: string): string[] {
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
  return packagesOf(JSON.parse(stdout) as string[]);
}

/** Packages that a module can ever reach, lazily or not. */
async function reachedBy(module: string): Promise<string[]> {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: [module],
    bundle: true,
    platform: 'node',
    write: false,
    metafile: true,
    logLevel: 'error',
    external: ['pg-native', '@pulumi/*'],
  });
  const external = Object.values(metafile.outputs).flatMap((output) => output.imports.map((each) => each.path));
  return [...packagesOf(Object.keys(metafile.inputs)), ...external];
}

const packagesOf = (files: readonly string[]) => [
  ...new Set(files.map((file) => PACKAGE.exec(file)?.[1]).filter((name) => name !== undefined)),
];
const matching = (packages: readonly string[], pattern: RegExp) => packages.filter((name) => pattern.test(name));

const RUNTIME = /^(pg|pg-.*|stripe|pino|prom-client|@aws-sdk\/.*|@pulumi\/.*)$/;
const CONSTRUCTS = /^(aws-cdk-lib|constructs|@pulumi\/.*)$/;

async function planted<T>(source: string, use: (module: string) => T | Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(ROOT, 'node_modules/.planted-'));
  try {
    writeFileSync(join(folder, 'index.ts'), source);
    return await use(relative(ROOT, join(folder, 'index.ts')));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

describe('chargeonce/aws', () => {
  it('loads the CDK, and nothing of the runtime or of another cloud', () => {
    const packages = loadedBy('constructs/aws');
    expect(packages).toContain('aws-cdk-lib');
    expect(matching(packages, RUNTIME)).toEqual([]);
  });

  it('has a check that would see the ledger’s driver', async () => {
    const packages = await planted("import pg from 'pg';\nexport const it = pg;\n", loadedBy);
    expect(matching(packages, RUNTIME)).toContain('pg');
  });
});

describe('the runtime', () => {
  it.each(['runtime/main.ts', 'runtime/pipeline.ts'])('%s reaches no CDK and no Pulumi', async (module) => {
    const packages = await reachedBy(module);
    expect(packages).toContain('pg');
    expect(matching(packages, CONSTRUCTS)).toEqual([]);
  });

  it('has a check that would see the CDK, even when it is loaded late', async () => {
    const source = "export const it = () => import('constructs');\n";
    expect(matching(await planted(source, reachedBy), CONSTRUCTS)).toContain('constructs');
  });

  it('has a contract that loads nothing at all', async () => {
    expect(await reachedBy('runtime/contract/index.ts')).toEqual([]);
  });
});
