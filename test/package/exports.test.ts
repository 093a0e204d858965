/** What each subpath gives and what it needs, with and without the optional peers. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import manifest from '../../package.json';
import { type Packed, pack, project, run } from './packed';

const PEERS = Object.keys(manifest.peerDependencies);
const SDKS = PEERS.filter((name) => /^@(aws-sdk|smithy)\//.test(name));
const AZURE_SDKS = ['@azure/event-hubs', '@azure/storage-blob'];
const INSTALL_AZURE_SDKS = `npm install ${AZURE_SDKS.join(' ')} @azure/identity`;
const INSTALL_SDKS = 'npm install @aws-sdk/client-kinesis @aws-sdk/client-dynamodb @smithy/node-http-handler';

const folder = mkdtempSync(join(tmpdir(), 'chargeonce-exports-'));
let packed: Packed;
let bare: string;
beforeAll(async () => {
  packed = await pack();
  bare = project(packed, join(folder, 'bare'));
}, 300_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Names that a module exports, as `require` and `import` see them, in a project. */
function exportsOf(where: string, specifier: string): string[] {
  const script = `
    const required = Object.keys(require(${JSON.stringify(specifier)}));
    import(${JSON.stringify(specifier)}).then((imported) => {
      const missing = required.filter((name) => !(name in imported));
      if (missing.length > 0) throw new Error('not seen by import: ' + missing);
      process.stdout.write(JSON.stringify(required.sort()));
    });
  `;
  return JSON.parse(run(where, process.execPath, ['-e', script])) as string[];
}

const cli = (...args: string[]) => run(bare, join(bare, 'node_modules/.bin/chargeonce'), args);

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
  });

  it('gives the emulators, and says what those need that need more', () => {
    expect(exportsOf(bare, 'chargeonce/testing')).toEqual(
      expect.arrayContaining(['startAmqpBroker', 'startBlobStorage', 'startStripeEmulator']),
    );
    const start = (what: string) => () =>
      run(bare, process.execPath, ['-e', `require('chargeonce/testing').${what}().then(({ port }) => port)`]);
    const install = (what: string, peer: string) =>
      `${what} of chargeonce/testing needs ${peer}. Install it: npm install --save-dev ${peer}`;
    expect(start('startAmqpBroker')).toThrow(install('startAmqpBroker', 'rhea'));
    expect(start('startBlobStorage')).toThrow(install('startBlobStorage', 'azurite'));
  });

  it('says what chargeonce/aws needs, and how to get it', () => {
    expect(() => exportsOf(bare, 'chargeonce/aws')).toThrow(
      'chargeonce/aws needs aws-cdk-lib. Install it: npm install aws-cdk-lib constructs',
    );
  });

  it('says what chargeonce/azure and its policies need, and how to get it', () => {
    expect(() => exportsOf(bare, 'chargeonce/azure')).toThrow(
      'chargeonce/azure needs @pulumi/pulumi. Install it: npm install @pulumi/pulumi @pulumi/azure-native',
    );
    expect(() => exportsOf(bare, 'chargeonce/azure/policy')).toThrow(
      'chargeonce/azure/policy needs @pulumi/policy. Install it: npm install @pulumi/policy @pulumi/pulumi',
    );
  });

  it('says what chargeonce/runtime/kinesis needs, and how to get it', () => {
    expect(() => exportsOf(bare, 'chargeonce/runtime/kinesis')).toThrow(
      `chargeonce/runtime/kinesis needs @aws-sdk/client-kinesis. Install it: ${INSTALL_SDKS}`,
    );
  });

  it('says what chargeonce/runtime/event-hubs needs, and how to get it', () => {
    expect(() => exportsOf(bare, 'chargeonce/runtime/event-hubs')).toThrow(
      `chargeonce/runtime/event-hubs needs @azure/event-hubs. Install it: ${INSTALL_AZURE_SDKS}`,
    );
  });

  it('runs the command line, whose bundle has all it needs', () => {
    expect(cli('--version').trim()).toBe(manifest.version);
    expect(cli('size', 'lease-table', '100')).toContain('new LeaseTable');
    writeFileSync(join(bare, 'events.ndjson'), '{"customer_id":"a"}\n');
    const to = ['--stream', 'usage', '--endpoint-url', 'http://127.0.0.1:1'];
    expect(() => cli('publish', 'events.ndjson', ...to)).toThrow('no region: give --region or set AWS_REGION');
    expect(() => cli('consume')).toThrow('DATABASE_URL: received nothing');
  });

  it('gives nothing that is not exported', () => {
    expect(() => exportsOf(bare, 'chargeonce/dist/runtime/main.js')).toThrow('ERR_PACKAGE_PATH_NOT_EXPORTED');
    expect(() => exportsOf(bare, 'chargeonce/azure/shared')).toThrow('ERR_PACKAGE_PATH_NOT_EXPORTED');
  });
});

describe('with some peers', () => {
  it('says which one of them is missing', () => {
    const some = project(packed, join(folder, 'some'), ['aws-cdk-lib', '@aws-sdk/client-kinesis', '@azure/event-hubs']);
    expect(() => exportsOf(some, 'chargeonce/aws')).toThrow('chargeonce/aws needs constructs. Install it: npm install');
    expect(() => exportsOf(some, 'chargeonce/runtime/kinesis')).toThrow(
      `chargeonce/runtime/kinesis needs @aws-sdk/client-dynamodb. Install it: ${INSTALL_SDKS}`,
    );
    expect(() => exportsOf(some, 'chargeonce/runtime/event-hubs')).toThrow(
      `chargeonce/runtime/event-hubs needs @azure/storage-blob. Install it: ${INSTALL_AZURE_SDKS}`,
    );
  });

  it('gives Event Hubs as a source, without the SDK of identities and that of the other cloud', () => {
    const azure = project(packed, join(folder, 'azure'), AZURE_SDKS);
    expect(exportsOf(azure, 'chargeonce/runtime/event-hubs')).toEqual(
      expect.arrayContaining(['azureClients', 'createEventHubsSource']),
    );
  });
});

describe('with the Pulumi peers', () => {
  const PULUMI = ['@pulumi/pulumi', '@pulumi/azure-native'];

  it('gives the components, and the policies with the SDK for policies alone', () => {
    const azure = project(packed, join(folder, 'pulumi'), PULUMI);
    expect(exportsOf(azure, 'chargeonce/azure')).toEqual([
      'BillingConsumer',
      'BillingEventHub',
      'BillingMonitoring',
      'CheckpointStore',
      'EventHubsBilling',
      'LedgerDatabase',
    ]);
    const policies = project(packed, join(folder, 'policies'), ['@pulumi/policy', '@pulumi/pulumi']);
    expect(exportsOf(policies, 'chargeonce/azure/policy')).toEqual(['POLICIES', 'billingPolicies']);
  });

  it('says which one of them is missing', () => {
    const some = project(packed, join(folder, 'some-pulumi'), ['@pulumi/pulumi']);
    expect(() => exportsOf(some, 'chargeonce/azure')).toThrow('chargeonce/azure needs @pulumi/azure-native.');
  });
});

describe('with the AWS peers', () => {
  let full: string;
  beforeAll(() => {
    full = project(packed, join(folder, 'full'), PEERS);
  });

  it('gives the constructs', () => {
    expect(exportsOf(full, 'chargeonce/aws')).toEqual([
      'BillingConsumer',
      'BillingMonitoring',
      'BillingStream',
      'KinesisBilling',
      'LeaseTable',
      'LedgerDatabase',
      'Migrations',
      'SpendCap',
      'StripeMode',
      'maskAssets',
    ]);
  });

  it('gives the source, and needs only the SDKs for it', () => {
    const sdks = project(packed, join(folder, 'sdks'), SDKS);
    expect(exportsOf(sdks, 'chargeonce/runtime/kinesis')).toEqual(['awsClients', 'createKinesisSource']);
  });

  it('synthesizes from an ECMAScript module, with the packaged image, without Docker', () => {
    const script = `
      import { App, Stack, aws_secretsmanager as secrets } from 'aws-cdk-lib';
      import { KinesisBilling, SpendCap } from 'chargeonce/aws';
      const app = new App({ outdir: 'out' });
      const stack = new Stack(app, 'Billing');
      const stripeKey = secrets.Secret.fromSecretNameV2(stack, 'Key', 'billing/stripe-rk');
      new KinesisBilling(stack, 'Usage', { stripeKey, spendCap: SpendCap.off() });
      app.synth();
    `;
    writeFileSync(join(full, 'synth.mjs'), script);
    run(full, process.execPath, ['synth.mjs']);
    const { dockerImages } = JSON.parse(readFileSync(join(full, 'out/Billing.assets.json'), 'utf8'));
    const [image] = Object.values(dockerImages) as { source: { directory: string } }[];
    expect(readdirSync(join(full, 'out', image!.source.directory)).sort()).toEqual(['Dockerfile', 'chargeonce.js']);
  });
});
