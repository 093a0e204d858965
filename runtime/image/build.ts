/** Bundles the runtime: one file for each source's image and one for the command line. Run by `npm run build`. */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build, type Plugin } from 'esbuild';
import type { SourceName } from '../config';
import { replaceFiles } from './replace-files';

/** A larger one starts slowly and is a sign that something was pulled in by mistake. */
export const MAX_BUNDLE_BYTES = 3 * 1024 * 1024;

const ROOT = join(__dirname, '..', '..');

/** Modules that dependencies ask for in vain: native or platform parts that nothing here uses. */
export const ABSENT: readonly string[] = ['pg-native', 'pg-cloudflare', '@aws-sdk/signature-v4-crt'];

const HERE = '__chargeonceBundleUrl';

type BundleName = SourceName | 'cli';

/** What each bundle can read. The command line serves everybody; an image has only what its own cloud needs. */
const READS: Readonly<Record<BundleName, readonly SourceName[]>> = {
  kinesis: ['kinesis'],
  'event-hubs': ['event-hubs'],
  cli: ['kinesis', 'event-hubs'],
};

/** The SDKs of the clouds whose sources a bundle does not read. */
const FOREIGN: Readonly<Record<SourceName, RegExp>> = {
  kinesis: /^@(azure|azure-rest)\//,
  'event-hubs': /^@(aws-sdk|aws-crypto|smithy)\//,
};

export interface Built {
  readonly name: BundleName;
  readonly file: string;
  readonly bytes: number;
}

/** Builds all bundles. Throws when one is larger than allowed. */
export async function buildImages(root: string = ROOT): Promise<Built[]> {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const built = await Promise.all((Object.keys(READS) as BundleName[]).map((name) => bundle(root, name, version)));
  for (const { name, bytes } of built) {
    if (bytes > MAX_BUNDLE_BYTES) {
      throw new Error(`The bundle ${name} has ${bytes} bytes, allowed are ${MAX_BUNDLE_BYTES}: see what it pulled in.`);
    }
  }
  return built;
}

async function bundle(root: string, name: BundleName, version: string): Promise<Built> {
  const folder = join(root, 'dist', 'runtime', 'image', name);
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
    // Modules of the newer kind ask where they are, which a bundle of the older kind does not say.
    banner: { js: `const ${HERE} = require('node:url').pathToFileURL(__filename).href;` },
    define: {
      'import.meta.url': HERE,
      CHARGEONCE_VERSION: JSON.stringify(version),
      CHARGEONCE_SOURCES: JSON.stringify(READS[name]),
    },
    plugins: name === 'cli' ? [] : [withoutForeignSdks(name)],
    logLevel: 'warning',
  });
  const files = new Map(outputFiles.map(({ path, contents }) => [basename(path), contents]));
  const recipe = join(root, 'runtime', 'image', name);
  if (name !== 'cli') for (const each of readdirSync(recipe)) files.set(each, readFileSync(join(recipe, each)));
  replaceFiles(folder, files);
  return { name, file, bytes: files.get(basename(file))?.byteLength ?? 0 };
}

/** In place of a package of the other cloud: an error that says where it is to be had. Thrown when it is asked for. */
function withoutForeignSdks(name: SourceName): Plugin {
  const namespace = 'foreign-sdk';
  return {
    name: namespace,
    setup({ onResolve, onLoad }) {
      onResolve({ filter: FOREIGN[name] }, ({ path }) => ({ path, namespace }));
      onLoad({ filter: /.*/, namespace }, ({ path }) => {
        const message = `This build of chargeonce is made for ${name} and has no ${path}: run the one of the other cloud, or the command line of the npm package.`;
        return {
          contents: `module.exports = (() => { throw new Error(${JSON.stringify(message)}); })();`,
          loader: 'js',
        };
      });
    },
  };
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
