/** Users' TypeScript against the tarball: every way to resolve modules, and no `skipLibCheck`, so that our types count. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import manifest from '../../package.json';
import { pack, project } from './packed';

const folder = mkdtempSync(join(tmpdir(), 'chargeonce-types-'));
let home: string;
beforeAll(async () => {
  home = project(await pack(), join(folder, 'project'));
}, 300_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const WITHOUT_PEERS = `
  import { ENVIRONMENT } from 'chargeonce';
  import { createLog, createStripe, migrate, openLedger, Processor, Reconciler } from 'chargeonce/runtime';
  import { type AmqpBroker, startAmqpBroker, startBlobStorage, startStripeEmulator } from 'chargeonce/testing';
  export const all = [createLog, createStripe, migrate, openLedger, Processor, Reconciler, startStripeEmulator];
  export const local: [() => Promise<AmqpBroker>, unknown] = [startAmqpBroker, startBlobStorage];
  export const name: 'SOURCE' = ENVIRONMENT.SOURCE;
`;
/** The last lines are mistakes: types that were not found would let them pass, and the compiler says so. */
const WITH_PEERS = `
  import { ENVIRONMENT } from 'chargeonce';
  import { BillingStream, SpendCap } from 'chargeonce/aws';
  import { BillingEventHub, type AlertName, type BillingMonitoringArgs } from 'chargeonce/azure';
  import { billingPolicies, POLICIES } from 'chargeonce/azure/policy';
  import { openLedger, type Source } from 'chargeonce/runtime';
  import { azureClients, createEventHubsSource } from 'chargeonce/runtime/event-hubs';
  import { createKinesisSource } from 'chargeonce/runtime/kinesis';
  import { startStripeEmulator } from 'chargeonce/testing';
  export const name: 'SOURCE' = ENVIRONMENT.SOURCE;
  export const cap: SpendCap = SpendCap.perPeriod({ usd: 1 });
  export const source = (): Source => createKinesisSource({} as Parameters<typeof createKinesisSource>[0]);
  export const hub = (): Source => createEventHubsSource({} as Parameters<typeof createEventHubsSource>[0]);
  export const quiet: BillingMonitoringArgs['disable'] = ['replicasRestart'] satisfies AlertName[];
  export const azure = [BillingEventHub, billingPolicies, POLICIES];
  export const all = [BillingStream, openLedger, azureClients, createKinesisSource, startStripeEmulator];
  // @ts-expect-error there is no such construct
  import type { Nothing } from 'chargeonce/aws';
  // @ts-expect-error a cap is a number of minor units
  SpendCap.perPeriod({ usd: '1' });
  // @ts-expect-error a source has options
  createKinesisSource();
  // @ts-expect-error no such alert
  export const loud: AlertName = 'replicaRestart';
  // @ts-expect-error there is a resource group
  new BillingEventHub('usage', {});
  // @ts-expect-error a hub is logged in to one way
  azureClients({ hub: { namespace: 'x' } });
`;

const NODENEXT = { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext };
const BUNDLER = { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler };
const CLASSIC = {
  module: ts.ModuleKind.CommonJS,
  moduleResolution: ts.ModuleResolutionKind.Node10,
  ignoreDeprecations: '6.0',
};

/** A million lines of declarations are read once for each way to read them. */
const parsed = new Map<string, ts.SourceFile | undefined>();

/** What the compiler says about the user's file and about each file of ours that it leads to. */
function complaints(source: string, resolution: ts.CompilerOptions): { said: string[]; ours: number } {
  const options: ts.CompilerOptions = {
    ...resolution,
    noEmit: true,
    strict: true,
    noUncheckedIndexedAccess: true,
    esModuleInterop: true,
    target: ts.ScriptTarget.ES2022,
    types: ['node'],
  };
  const use = join(home, 'use.ts');
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile } = host;
  host.getCurrentDirectory = () => home;
  host.fileExists = (file) => file === use || fileExists(file);
  host.readFile = (file) => (file === use ? source : readFile(file));
  host.getSourceFile = (file, how, ...rest) => {
    if (file === use) return ts.createSourceFile(file, source, how);
    const key = `${resolution === NODENEXT} ${file}`;
    if (!parsed.has(key)) parsed.set(key, getSourceFile(file, how, ...rest));
    return parsed.get(key);
  };
  const program = ts.createProgram([use], options, host);
  const ours = program.getSourceFiles().filter(({ fileName }) => fileName.includes('/node_modules/chargeonce/'));
  const found = [program.getSourceFile(use)!, ...ours].flatMap((file) => [
    ...program.getSyntacticDiagnostics(file),
    ...program.getSemanticDiagnostics(file),
  ]);
  const said = [...program.getOptionsDiagnostics(), ...found].map(
    ({ file, messageText }) => `${file?.fileName ?? ''}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`,
  );
  return { said, ours: ours.length };
}

describe('types', () => {
  it('of what needs no peer hold without any', () => {
    const { said, ours } = complaints(WITHOUT_PEERS, NODENEXT);
    expect(said).toEqual([]);
    expect(ours).toBeGreaterThan(50);
  });

  it('of the constructs do not hold without their peers: the check sees it', () => {
    expect(complaints("export * from 'chargeonce/aws';", NODENEXT).said.join('\n')).toContain(
      "Cannot find module 'aws-cdk-lib'",
    );
  });

  describe('with the peers', () => {
    beforeAll(() => {
      project({ bare: home }, home, Object.keys(manifest.peerDependencies));
    });

    it.each([
      ['nodenext', NODENEXT],
      ['bundler', BUNDLER],
      ['classic (node10)', CLASSIC],
    ])('hold under %s resolution', (_, resolution) => {
      const { said, ours } = complaints(WITH_PEERS, resolution);
      expect(said).toEqual([]);
      expect(ours).toBeGreaterThan(80);
    });
  });
});
