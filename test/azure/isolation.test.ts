/** What loading the Azure half of the package drags in: never the other half, never the runtime. */
import { describe, expect, it } from 'vitest';
import { loadedBy, loadedFiles, matching, planted, reachedBy } from '../support/loaded-packages';

const FOREIGN =
  /^(aws-cdk-lib|constructs|pg|pg-.*|stripe|pino|prom-client|rhea|rhea-promise|@aws-sdk\/.*|@smithy\/.*|@azure\/.*)$/;
const PULUMI = ['@pulumi/*', 'google-protobuf', '@grpc/*'];

/** Folders of azure-native that are in memory: one for each of Azure's services, of which there are 250. */
const services = (files: readonly string[]) => [
  ...new Set(files.flatMap((file) => /@pulumi\/azure-native\/([a-z]+)\//.exec(file)?.[1] ?? [])),
];

describe('chargeonce/azure', () => {
  it('loads Pulumi, and nothing of the runtime or of another cloud', () => {
    const packages = loadedBy('constructs/azure');
    expect(packages).toEqual(expect.arrayContaining(['@pulumi/pulumi', '@pulumi/azure-native']));
    expect(matching(packages, FOREIGN)).toEqual([]);
  });

  it('can reach nothing else either, late', async () => {
    const packages = new Set(await reachedBy('constructs/azure/index.ts', PULUMI));
    expect([...packages].filter((name) => !/^(@pulumi|node:)|^(crypto|module)$/.test(name))).toEqual([]);
  });

  it('loads the services that it uses, not all 250 of them', () => {
    expect(services(loadedFiles('constructs/azure')).sort()).toEqual([
      'app',
      'applicationinsights',
      'authorization',
      'dbforpostgresql',
      'eventhub',
      'managedidentity',
      'monitor',
      'network',
      'operationalinsights',
      'privatedns',
      'storage',
      'types',
    ]);
  });
});

describe('chargeonce/azure/policy', () => {
  it('loads the policy SDK, and neither azure-native nor a component', () => {
    const files = loadedFiles('constructs/azure/policy');
    expect(files.some((file) => file.includes('/@pulumi/policy/'))).toBe(true);
    expect(services(files)).toEqual([]);
    expect(matching(loadedBy('constructs/azure/policy'), FOREIGN)).toEqual([]);
  });
});

describe('these checks', () => {
  it('would see the ledger’s driver, a client of Azure and the CDK', async () => {
    const source = "import pg from 'pg';\nimport * as hubs from '@azure/event-hubs';\nexport const it = [pg, hubs];\n";
    expect(matching(await planted(source, loadedBy), FOREIGN)).toEqual(
      expect.arrayContaining(['pg', '@azure/event-hubs', 'rhea']),
    );
    const late = "export const it = () => import('constructs');\n";
    expect(await planted(late, (module) => reachedBy(module, PULUMI))).toContain('constructs');
  });

  it('would see an import of all services', async () => {
    const source =
      "import { eventhub, storage, web } from '@pulumi/azure-native';\nexport const it = [eventhub, storage, web];\n";
    expect(services(await planted(source, loadedFiles))).toEqual(expect.arrayContaining(['web']));
  });
});
