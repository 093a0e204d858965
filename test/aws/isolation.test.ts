/** What loading one half of the package drags in: never the other half. */
import { describe, expect, it } from 'vitest';
import { loadedBy, matching, planted, reachedBy } from '../support/loaded-packages';

/** Not looked into: it is reached by nobody, or the test fails. */
const PULUMI = ['@pulumi/*'];
const RUNTIME = /^(pg|pg-.*|stripe|pino|prom-client|@aws-sdk\/.*|@pulumi\/.*)$/;
const CONSTRUCTS = /^(aws-cdk-lib|constructs|@pulumi\/.*)$/;

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
    const packages = await reachedBy(module, PULUMI);
    expect(packages).toContain('pg');
    expect(matching(packages, CONSTRUCTS)).toEqual([]);
  });

  it('has a check that would see the CDK, even when it is loaded late', async () => {
    const source = "export const it = () => import('constructs');\n";
    expect(matching(await planted(source, (module) => reachedBy(module, PULUMI)), CONSTRUCTS)).toContain('constructs');
  });

  it('has a contract that loads nothing at all', async () => {
    expect(await reachedBy('runtime/contract/index.ts', PULUMI)).toEqual([]);
  });
});
