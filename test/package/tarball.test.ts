/** What is inside the tarball, and what the linters of packages say about it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import manifest from '../../package.json';
import { type Packed, pack, ROOT, run } from './packed';

/** Where files may be. A new folder in the tarball is a decision, so it is a line here. */
const INTENDED = [
  /^(package\.json|README\.md|CHANGELOG\.md|LICENSE)$/,
  /^docs\/[a-z-]+\.md$/,
  /^dist\/constructs\/(aws|azure|shared)\/([a-z-]+\/)?[a-z-]+\.(js|d\.ts)$/,
  /^dist\/runtime\/[a-z-]+\.(js|d\.ts)$/,
  /^dist\/runtime\/(checkpoint|config|contract|decode|host|ledger|ops|processor|stripe)\/([a-z-]+\/)?[a-z0-9-]+\.(js|d\.ts)$/,
  /^dist\/runtime\/sources\/(kinesis|event-hubs|publishing)\/[a-z-]+\.(js|d\.ts)$/,
  /^dist\/runtime\/image\/(cli|kinesis|event-hubs)\/chargeonce\.js$/,
  /^dist\/runtime\/image\/(kinesis|event-hubs)\/Dockerfile$/,
  /^dist\/test\/emulators\/(index|blob-storage|peer|(amqp|stripe)\/[a-z-]+)\.(js|d\.ts)$/,
];
/** What must never be inside, whatever the folder. */
const NEVER = /\.(map|tsbuildinfo|tsx?)$|\.test\.|(?<!\.d)\.ts$|\/(support|faults|stacks|bench)\//;
/** 2.3 MB today, of which 1.9 are the three bundles. */
const MOST_BYTES = 2.8 * 1024 * 1024;

const PEERS = Object.keys(manifest.peerDependencies) as (keyof typeof manifest.peerDependencies)[];
const pinned = (name: string) => (manifest.devDependencies as Record<string, string>)[name]!;

let packed: Packed;
beforeAll(async () => {
  packed = await pack();
}, 300_000);

describe('the tarball', () => {
  it('holds what is intended and nothing else', () => {
    expect(packed.files.filter((file) => !INTENDED.some((each) => each.test(file)))).toEqual([]);
  });

  it('holds no source, no source map, no test and nothing of the build', () => {
    expect(packed.files.filter((file) => !file.endsWith('.d.ts') && NEVER.test(file))).toEqual([]);
    const bundle = run(ROOT, 'tar', ['-xzOf', packed.tarball, 'package/dist/runtime/image/kinesis/chargeonce.js']);
    expect(bundle).not.toContain('sourceMappingURL');
    expect(bundle).not.toContain(ROOT);
  });

  it('holds everything that package.json points to', () => {
    const { exports, typesVersions, bin, main, types, sideEffects } = manifest;
    const named = JSON.stringify([exports, typesVersions, bin, main, types, sideEffects]);
    const targets = named.match(/\.\/dist\/[^"]+/g) ?? [];
    expect(targets.length).toBeGreaterThan(8);
    expect(targets.filter((file) => !packed.files.includes(file.slice(2)))).toEqual([]);
  });

  it('is small', () => {
    console.log(`the tarball: ${(packed.bytes / 1024 / 1024).toFixed(2)} MiB, ${packed.files.length} files`);
    expect(packed.bytes).toBeLessThan(MOST_BYTES);
  });

  it('names classic types for every subpath', () => {
    const subpaths = Object.keys(manifest.exports).filter((path) => !['.', './package.json'].includes(path));
    expect(Object.keys(manifest.typesVersions['*']).map((path) => `./${path}`)).toEqual(subpaths);
  });

  it('marks every peer optional, at the version it is tested with', () => {
    expect(Object.keys(manifest.peerDependenciesMeta)).toEqual(PEERS);
    for (const peer of PEERS.filter((name) => name !== 'constructs')) {
      expect(manifest.peerDependencies[peer]).toBe(`^${pinned(peer)}`);
    }
  });
});

describe('the linters of packages', () => {
  it('publint has nothing to say, not even a suggestion', async () => {
    const { publint } = await import('publint');
    const { messages } = await publint({ pack: { tarball: await arrayBuffer(packed.tarball) }, level: 'suggestion' });
    expect(messages).toEqual([]);
  });

  it('publint would say that a file is not there', async () => {
    const files = [{ name: 'package/package.json', data: Buffer.from(JSON.stringify(manifest)) }];
    const { publint } = await import('publint');
    const { messages } = await publint({ pkgDir: 'package', pack: { files }, level: 'suggestion' });
    expect(messages.map(({ code }) => code)).toContain('FILE_DOES_NOT_EXIST');
  });

  it('attw finds every type under every resolution, and ignores no rule', () => {
    const attw = join(ROOT, 'node_modules/@arethetypeswrong/cli/dist/index.js');
    const { analysis } = JSON.parse(run(ROOT, process.execPath, [attw, packed.tarball, '--format', 'json'])) as {
      analysis: { problems: unknown[]; entrypoints: Record<string, { resolutions: Record<string, unknown> }> };
    };
    expect(analysis.problems).toEqual([]);
    expect(Object.keys(analysis.entrypoints).sort()).toEqual(Object.keys(manifest.exports).sort());
    for (const { resolutions } of Object.values(analysis.entrypoints)) {
      expect(Object.keys(resolutions).sort()).toEqual(['bundler', 'node10', 'node16-cjs', 'node16-esm']);
    }
  });
});

async function arrayBuffer(file: string): Promise<ArrayBuffer> {
  const bytes = readFileSync(file);
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
}
