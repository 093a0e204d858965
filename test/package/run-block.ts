/** Runs a document's code block as a user's file: what compiles may still throw at synth or at preview. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import ts from 'typescript';
import * as aws from '../../constructs/aws';
import * as azure from '../../constructs/azure';
import * as policy from '../../constructs/azure/policy';
import * as contract from '../../runtime/contract';
import { type RunOptions, runProgram } from '../azure/mocks';
import * as testing from '../emulators';

const OURS: Readonly<Record<string, unknown>> = {
  chargeonce: contract,
  'chargeonce/aws': aws,
  'chargeonce/azure': azure,
  'chargeonce/azure/policy': policy,
  'chargeonce/testing': testing,
};

const AZURE = /from 'chargeonce\/azure'/;

/** What people have to put in the place of an ellipsis. */
const FILLED_IN: readonly (readonly [written: RegExp, meant: string])[] = [
  [/(@sha256:)…/g, `$1${'0'.repeat(64)}`],
  [
    /'\/subscriptions\/…\/vaults\//g,
    "'/subscriptions/00000000-0000-4000-8000-000000000000/resourceGroups/rg-billing/providers/Microsoft.KeyVault/vaults/",
  ],
  [
    /'\/subscriptions\/…\/(virtualNetworks|privateDnsZones)\//g,
    "'/subscriptions/00000000-0000-4000-8000-000000000000/resourceGroups/rg-net/providers/Microsoft.Network/$1/",
  ],
];

/** Parts that exist already, as Azure describes them. */
const EXISTING: NonNullable<RunOptions['lookups']> = {
  'azure-native:eventhub:getNamespace': () => ({
    id: '/subscriptions/s/resourceGroups/rg-billing/providers/Microsoft.EventHub/namespaces/contoso',
    name: 'contoso',
    sku: { name: 'Standard', tier: 'Standard', capacity: 1 },
    serviceBusEndpoint: 'https://contoso.servicebus.windows.net:443/',
  }),
  'azure-native:storage:getStorageAccount': () => ({
    id: '/subscriptions/s/resourceGroups/rg-billing/providers/Microsoft.Storage/storageAccounts/contosocheckpoints',
    name: 'contosocheckpoints',
    primaryEndpoints: { blob: 'https://contosocheckpoints.blob.core.windows.net/' },
  }),
  'azure-native:storage:getBlobServiceProperties': () => ({ isVersioningEnabled: false }),
  'azure-native:dbforpostgresql:getServer': () => ({
    id: '/subscriptions/s/resourceGroups/rg-data/providers/Microsoft.DBforPostgreSQL/flexibleServers/contoso',
    name: 'contoso',
    fullyQualifiedDomainName: 'contoso.postgres.database.azure.com',
    authConfig: { activeDirectoryAuth: 'Enabled', passwordAuth: 'Disabled' },
  }),
};

/** Rejects with what the block throws; `test` runs at once, and a snapshot is always new. */
export async function runBlock(code: string): Promise<void> {
  if (AZURE.test(code)) await runProgram(() => load(code), { lookups: EXISTING });
  else load(code);
}

function load(code: string): void {
  const meant = FILLED_IN.reduce((text, [written, instead]) => text.replace(written, instead), code);
  const { outputText } = ts.transpileModule(meant, {
    compilerOptions: { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022, esModuleInterop: true },
  });
  const others = createRequire(join(__dirname, 'block.js'));
  const require = (name: string): unknown => OURS[name] ?? others(name);
  const test = (_name: string, run: () => void): void => run();
  const expect = () => ({ toMatchSnapshot: () => undefined, toBe: () => undefined });
  new Function('require', 'exports', 'test', 'expect', outputText)(require, {}, test, expect);
}
