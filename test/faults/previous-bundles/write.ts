/**
 * Keeps the bundle of this state as a fixture, so that the next release is rolled out over it in a test:
 * `npm run fixture:bundle`. README.md beside this file says when.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { buildImages } from '../../../runtime/image/build';
import { SCHEMA_VERSION } from '../../../runtime/ledger';

const ROOT = join(__dirname, '..', '..', '..');
/** Where the header of a gzip file names the system it was made on. */
const SYSTEM_BYTE = 9;
const UNKNOWN_SYSTEM = 255;

/** The same bytes for the same content, on every system: no time, no name, no system. */
export function compress(content: Uint8Array): Buffer {
  const compressed = gzipSync(content, { level: 9 });
  compressed[SYSTEM_BYTE] = UNKNOWN_SYSTEM;
  return compressed;
}

async function main(): Promise<void> {
  const bundle = (await buildImages()).find(({ name }) => name === 'kinesis');
  if (bundle === undefined) throw new Error('The build made no bundle for Kinesis.');
  const file = join(__dirname, `schema-${SCHEMA_VERSION}.js.gz`);
  const compressed = compress(readFileSync(bundle.file));
  writeFileSync(file, compressed);
  console.log(`${relative(ROOT, file)}: ${compressed.byteLength} bytes`);
}

if (require.main === module) {
  main().catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  });
}
