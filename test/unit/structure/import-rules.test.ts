import { describe, expect, it } from 'vitest';
import { brokenRules, importCycles, RULES } from './import-rules';
import { readSources, sourcesOf } from './sources';

describe('who imports whom', { timeout: 60_000 }, () => {
  const sources = readSources();

  it('keeps every rule', () => {
    expect(brokenRules(sources)).toEqual([]);
  });

  it('speaks of folders that exist', () => {
    for (const { name, files } of RULES) {
      const found = [...sources.keys()].some((file) => files.test(file));
      if (name !== 'Azure components know no CDK') expect(found, name).toBe(true);
    }
  });

  it('has no cycles', () => {
    expect(importCycles(sources)).toEqual([]);
  });
});

describe('the rules catch what is planted', () => {
  const leaf = { 'runtime/contract/index.ts': '', 'runtime/stripe/index.ts': '', 'test/support/x.ts': '' };
  const sources = { ...leaf, 'runtime/sources/kinesis/index.ts': '', 'runtime/ledger/index.ts': '' };

  it.each([
    ['constructs/aws/a.ts', "import { x } from '../../runtime/stripe';", 'constructs know the runtime by its contract'],
    ['constructs/aws/a.ts', "import pg from 'pg';", 'constructs know the runtime by its contract'],
    ['constructs/aws/a.ts', "import * as p from '@pulumi/pulumi';", 'AWS constructs know no Pulumi'],
    ['constructs/azure/a.ts', "import { App } from 'aws-cdk-lib/core';", 'Azure components know no CDK'],
    ['constructs/shared/a.ts', "import type { App } from 'aws-cdk-lib';", 'shared constructs know no cloud'],
    ['runtime/ops/a.ts', "const cdk = require('aws-cdk-lib');", 'the runtime is deployed alone'],
    ['runtime/ops/a.ts', "const cdk = await import('constructs');", 'the runtime is deployed alone'],
    ['runtime/contract/a.ts', "import { z } from 'zod';", 'the contract imports nothing'],
    ['runtime/processor/a.ts', "import { q } from '../ledger';", 'the processor sees ports'],
    ['runtime/processor/a.ts', "import Stripe from 'stripe';", 'the processor sees ports'],
    ['runtime/ledger/a.ts', "import { k } from '../sources/kinesis';", 'know no source'],
    ['runtime/sources/a.ts', "import { q } from '../ledger';", 'sources know neither ledger nor Stripe'],
    ['runtime/ops/a.ts', "import type Stripe from 'stripe';", 'only runtime/stripe imports stripe'],
    ['runtime/ops/a.ts', "import { Pool } from 'pg';", 'only runtime/ledger imports pg'],
    ['runtime/ops/a.ts', "import { x } from '../../test/support/x';", 'imports no test but the emulators'],
  ])('%s: %s', (file, text, rule) => {
    expect(brokenRules(sourcesOf({ ...sources, [file]: text })).join('\n')).toContain(rule);
  });

  it.each([
    ['constructs/aws/a.ts', "import { ENVIRONMENT } from '../../runtime/contract';"],
    ['runtime/processor/a.ts', "import { ENVIRONMENT } from '../contract'; import { createHash } from 'node:crypto';"],
    ['runtime/stripe/a.ts', "import Stripe from 'stripe';"],
    ['runtime/ledger/a.ts', "import { Pool } from 'pg';"],
  ])('and lets %s do its own: %s', (file, text) => {
    expect(brokenRules(sourcesOf({ ...sources, [file]: text }))).toEqual([]);
  });

  it('a cycle of three', () => {
    const planted = {
      'a.ts': "import './b';",
      'b.ts': "import './c';",
      'c.ts': "import './a';",
      'd.ts': "import './a';",
    };
    expect(importCycles(sourcesOf(planted))).toEqual(['a.ts → b.ts → c.ts → a.ts']);
  });
});
