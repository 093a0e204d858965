/** Bundles the runtime: one file for each source's image and one for the command line. Run by `npm run build`. */
import { cpSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

/** A larger one starts slowly and is a sign that something was pulled in by mistake. */
export const MAX_BUNDLE_BYTES = 3 * 1024 * 1024;

const ROOT = join(__dirname, '..', '..');

/** Modules that dependencies ask for in vain: native or platform parts that nothing here uses. */
export const ABSENT: readonly string[] = ['pg-native', 'pg-cloudflare', '@aws-sdk/signature-v4-crt'];

export interface Built {
  readonly name: string;
  readonly file: string;
  readonly bytes: number;
}

/** Builds all bundles. Throws when one is larger than allowed. */
export async function buildImages(root: string = ROOT): Promise<Built[]> {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const built = await Promise.all(['kinesis', 'cli'].map((name) => bundle(root, name, version)));
  for (const { name, bytes } of built) {
    if (bytes > MAX_BUNDLE_BYTES) {
      throw new Error(`The bundle ${name} has ${bytes} bytes, allowed are ${MAX_BUNDLE_BYTES}: see what it pulled in.`);
    }
  }
  return built;
}

async function bundle(root: string, name: string, version: string): Promise<Built> {
  const folder = join(root, 'dist', 'runtime', 'image', name);
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'chargeonce.js');
  const { outputFiles } = await build({
    write: false,
    absWorkingDir: root,
    entryPoints: ['runtime/main.ts'],
    outfile: file,
    bundle: true,
    minify: true,
    // Names of functions and classes stand in logs and stack traces, and error names are compared.
    keepNames: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    sourcemap: 'external',
    sourcesContent: false,
    legalComments: 'none',
    mainFields: ['module', 'main'],
    external: [...ABSENT],
    define: { CHARGEONCE_VERSION: JSON.stringify(version) },
    logLevel: 'warning',
  });
  // Whoever starts the old bundle at this moment gets the old one whole.
  for (const { path, contents } of outputFiles) {
    writeFileSync(`${path}.new`, contents);
    renameSync(`${path}.new`, path);
  }
  if (name !== 'cli') cpSync(join(root, 'runtime', 'image', name), folder, { recursive: true });
  return { name, file, bytes: statSync(file).size };
}

if (require.main === module) {
  console.time('built in');
  buildImages().then(
    (built) => {
      for (const { name, bytes } of built) console.log(`${name.padEnd(8)} ${(bytes / 1024 / 1024).toFixed(2)} MiB`);
      console.timeEnd('built in');
    },
    (error: unknown) => {
      console.error(error instanceof Error ? error.message : error);
      process.exitCode = 1;
    },
  );
}
