/** The tarball as a user gets it: what is inside, what each subpath gives, what it needs. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import manifest from '../../package.json';
import { install, type Packed, pack, ROOT, run, withPackages } from './packed';

/** Where files may be. A new folder in the tarball is a decision, so it is a line here. */
const INTENDED = [
  /^(package\.json|README\.md|CHANGELOG\.md|LICENSE)$/,
  /^dist\/constructs\/(aws|shared)\/[a-z-]+\.(js|d\.ts)$/,
  /^dist\/runtime\/(index|main|pipeline)\.(js|d\.ts)$/,
  /^dist\/runtime\/(checkpoint|config|contract|decode|host|ledger|ops|processor|stripe)\/([a-z-]+\/)?[a-z0-9-]+\.(js|d\.ts)$/,
  /^dist\/runtime\/sources\/kinesis\/[a-z-]+\.(js|d\.ts)$/,
  /^dist\/runtime\/image\/(cli|kinesis)\/chargeonce\.js(\.map)?$/,
  /^dist\/runtime\/image\/kinesis\/Dockerfile$/,
  /^dist\/test\/emulators\/(index|stripe\/[a-z-]+)\.(js|d\.ts)$/,
];

const PEERS = Object.keys(manifest.peerDependencies) as (keyof typeof manifest.peerDependencies)[];
const pinned = (name: string) => (manifest.devDependencies as Record<string, string>)[name]!;

const folder = mkdtempSync(join(tmpdir(), 'chargeonce-pack-'));
let packed: Packed;
let bare: string;
beforeAll(async () => {
  packed = await pack(folder);
  bare = install(packed, 'bare');
}, 300_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Names that a module exports, as `require` and `import` see them, in a project. */
function exportsOf(project: string, specifier: string): string[] {
  const script = `
    const required = Object.keys(require(${JSON.stringify(specifier)}));
    import(${JSON.stringify(specifier)}).then((imported) => {
      const missing = required.filter((name) => !(name in imported));
      if (missing.length > 0) throw new Error('not seen by import: ' + missing);
      process.stdout.write(JSON.stringify(required.sort()));
    });
  `;
  return JSON.parse(run(project, process.execPath, ['-e', script])) as string[];
}

describe('the tarball', () => {
  it('holds what is intended and nothing else', () => {
    expect(packed.files.filter((file) => !INTENDED.some((each) => each.test(file)))).toEqual([]);
  });

  it('holds everything that package.json points to', () => {
    const { exports, typesVersions, bin, main, types } = manifest;
    const targets = JSON.stringify([exports, typesVersions, bin, main, types]).match(/\.\/dist\/[^"]+/g) ?? [];
    expect(targets.length).toBeGreaterThan(8);
    expect(targets.filter((file) => !packed.files.includes(file.slice(2)))).toEqual([]);
  });

  it('is small', () => {
    expect(packed.bytes).toBeLessThan(3 * 1024 * 1024);
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

describe('without any peer', () => {
  it('installs none of them', () => {
    for (const peer of PEERS) {
      expect(() => run(bare, process.execPath, ['-e', `require.resolve(${JSON.stringify(peer)})`])).toThrow();
    }
  });

  it('gives the contract', () => {
    expect(exportsOf(bare, 'chargeonce')).toContain('ENVIRONMENT');
  });

  it('gives the runtime’s parts, which load no SDK of a cloud', () => {
    const names = exportsOf(bare, 'chargeonce/runtime');
    expect(names).toEqual(
      expect.arrayContaining(['Processor', 'createDecoder', 'createStripe', 'migrate', 'openLedger']),
    );
    const script = `
      const { createDecoder } = require('chargeonce/runtime');
      const event = { customer_id: 'a', billing_period: '2026-10', amount_cents: 5, stripe_customer_id: 'cus_a' };
      const decoded = createDecoder({ defaultCurrency: 'usd' })(Buffer.from(JSON.stringify(event)));
      process.stdout.write(JSON.stringify(decoded));
    `;
    expect(run(bare, process.execPath, ['-e', script])).toContain('2026-10');
    expect(() => exportsOf(bare, 'chargeonce/runtime/kinesis')).toThrow('@aws-sdk');
  });

  it('gives the emulator', () => {
    expect(exportsOf(bare, 'chargeonce/testing')).toContain('startStripeEmulator');
  });

  it('says what chargeonce/aws needs', () => {
    expect(() => exportsOf(bare, 'chargeonce/aws')).toThrow(
      'chargeonce/aws needs aws-cdk-lib. Install it: npm install aws-cdk-lib constructs',
    );
  });

  it('runs the command line', () => {
    expect(run(bare, join(bare, 'node_modules/.bin/chargeonce'), ['--version']).trim()).toBe(manifest.version);
  });

  it('has types that hold to the last library', () => {
    const source = `
      import { ENVIRONMENT } from 'chargeonce';
      import { createLog, createStripe, migrate, openLedger, Processor, Reconciler } from 'chargeonce/runtime';
      import { startStripeEmulator } from 'chargeonce/testing';
      export const all = [createLog, createStripe, migrate, openLedger, Processor, Reconciler, startStripeEmulator];
      export const name: 'SOURCE' = ENVIRONMENT.SOURCE;
    `;
    writeFileSync(join(bare, 'use.ts'), source);
    const options = ['--noEmit', '--strict', '--target', 'es2022', '--types', 'node', '--module', 'nodenext'];
    run(bare, process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), ...options, 'use.ts']);
  });

  it('gives nothing that is not exported', () => {
    expect(() => exportsOf(bare, 'chargeonce/dist/runtime/main.js')).toThrow('ERR_PACKAGE_PATH_NOT_EXPORTED');
    expect(() => exportsOf(bare, 'chargeonce/azure')).toThrow('ERR_PACKAGE_PATH_NOT_EXPORTED');
  });
});

describe('with the AWS peers', () => {
  let project: string;
  beforeAll(() => {
    project = withPackages(packed, bare, 'aws', PEERS);
  });

  it('gives the constructs', () => {
    expect(exportsOf(project, 'chargeonce/aws')).toEqual([
      'BillingConsumer',
      'BillingStream',
      'KinesisBilling',
      'LeaseTable',
      'LedgerDatabase',
      'SpendCap',
      'StripeMode',
      'maskAssets',
    ]);
  });

  it('gives the source', () => {
    expect(exportsOf(project, 'chargeonce/runtime/kinesis')).toContain('createKinesisSource');
  });

  it('synthesizes with the packaged image, without Docker', () => {
    const script = `
      const { App, Stack, aws_secretsmanager: secrets } = require('aws-cdk-lib');
      const { KinesisBilling, SpendCap } = require('chargeonce/aws');
      const stack = new Stack(new App({ outdir: 'out' }), 'Billing');
      const stripeKey = secrets.Secret.fromSecretNameV2(stack, 'Key', 'billing/stripe-rk');
      new KinesisBilling(stack, 'Usage', { stripeKey, spendCap: SpendCap.off() });
      stack.node.root.synth();
    `;
    writeFileSync(join(project, 'synth.js'), script);
    run(project, process.execPath, ['synth.js']);
    const { dockerImages } = JSON.parse(readFileSync(join(project, 'out/Billing.assets.json'), 'utf8'));
    const [image] = Object.values(dockerImages) as { source: { directory: string } }[];
    expect(readdirSync(join(project, 'out', image!.source.directory))).toContain('chargeonce.js');
  });

  it('has types that hold under nodenext', () => {
    const source = `
      import { ENVIRONMENT } from 'chargeonce';
      import { BillingStream, SpendCap } from 'chargeonce/aws';
      import { openLedger, type Source } from 'chargeonce/runtime';
      import { createKinesisSource } from 'chargeonce/runtime/kinesis';
      import { startStripeEmulator } from 'chargeonce/testing';
      export const name: 'SOURCE' = ENVIRONMENT.SOURCE;
      export const cap: SpendCap = SpendCap.perPeriod({ usd: 1 });
      export const source = (): Source => createKinesisSource({} as Parameters<typeof createKinesisSource>[0]);
      export const all = [BillingStream, openLedger, createKinesisSource, startStripeEmulator];
      // @ts-expect-error a cap is a number of minor units
      SpendCap.perPeriod({ usd: '1' });
    `;
    writeFileSync(join(project, 'use.ts'), source);
    const options = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2022', '--types', 'node'];
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    run(project, process.execPath, [tsc, ...options, '--module', 'nodenext', 'use.ts']);
  });

  it.each([
    ['classic', ts.ModuleResolutionKind.Node10],
    ['node16', ts.ModuleResolutionKind.Node16],
    ['bundler', ts.ModuleResolutionKind.Bundler],
  ])('has types for every subpath under %s resolution', (_, moduleResolution) => {
    for (const path of Object.keys(manifest.exports).filter((each) => each !== './package.json')) {
      const { resolvedModule } = ts.resolveModuleName(
        join('chargeonce', path),
        join(project, 'use.ts'),
        { moduleResolution },
        ts.sys,
      );
      expect(resolvedModule?.resolvedFileName, path).toMatch(/\/dist\/.*index\.d\.ts$/);
    }
  });
});
