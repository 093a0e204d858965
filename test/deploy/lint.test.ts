/** What cfn-lint and checkov say of the synthesized templates. Each finding is fixed, or explained here. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SHAPES } from '../aws/shapes';
import { FLAGS, synthesize, type Template } from '../aws/synthesis';
import { type Reviewed, review } from '../support/reviewed';
import { cfnLint, checkov, written } from './linters';
import { type PythonEnvironment, pythonEnvironment } from './python';

/** Warnings of cfn-lint that stay. */
const EXPLAINED: readonly Reviewed[] = [
  {
    rule: 'W6001',
    where: /^composed-Compute\S* Outputs\/OpsCommand\//,
    reason: 'The command names subnets of the network’s stack: an output for people, which nothing imports again.',
  },
  {
    rule: 'W3005',
    where: /AWS::ECS::Service \w+\/DependsOn\/\d+$/,
    reason: 'The CDK writes this DependsOn itself; a dependency said twice is one dependency.',
  },
  {
    rule: 'W3691',
    where: /AWS::RDS::DBInstance \w*Ledger\w+\/Properties$/,
    reason: 'Only the major version is named, so that RDS applies minor ones; cfn-lint knows full versions only.',
  },
];

/** Checks of checkov that the templates do not pass. */
const SKIPPED: readonly Reviewed[] = [
  {
    rule: 'CKV_AWS_26',
    where: /AWS::SNS::Topic Pager\w+$/,
    reason: 'The topic is the user’s; with the key that AWS manages for SNS no alarm could publish to it.',
  },
  {
    rule: 'CKV_AWS_158',
    where: /AWS::Logs::LogGroup /,
    reason: 'CloudWatch encrypts logs by itself; a key of one’s own is the user’s decision, and costs.',
  },
];

/** By file name: every shape, as a new app and as an old one synthesizes it. */
const TEMPLATES: Readonly<Record<string, Template>> = Object.fromEntries(
  Object.entries(SHAPES).flatMap(([name, shape]) =>
    Object.entries(FLAGS).flatMap(([flags, context]) =>
      Object.entries(synthesize(shape, { context }).templates).map(([stack, template]) => [
        `${name}-${stack}-${flags.replaceAll(' ', '-')}`,
        template,
      ]),
    ),
  ),
);

describe('the linters', () => {
  let python: PythonEnvironment;
  let folder: string;
  beforeAll(async () => {
    python = await pythonEnvironment('requirements-lint.txt', console.log);
    folder = mkdtempSync(join(tmpdir(), 'chargeonce-lint-'));
  }, 300_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('cfn-lint finds nothing that nobody explains', async () => {
    const findings = await cfnLint(python, written(join(folder, 'right'), TEMPLATES));
    expect(review(findings, EXPLAINED)).toEqual({ unexplained: [], stale: [] });
  });

  it('checkov passes, or a check is skipped for a reason', async () => {
    const { passed, findings } = await checkov(python, written(join(folder, 'right'), TEMPLATES));
    expect(passed).toBeGreaterThan(100);
    expect(review(findings, SKIPPED)).toEqual({ unexplained: [], stale: [] });
  });

  it('cfn-lint sees each kind of wrong template', async () => {
    const names = Object.keys(WRONG);
    const templates = names.map((name) => [name, broken(WRONG[name]!)] as const);
    const findings = await cfnLint(python, written(join(folder, 'wrong'), Object.fromEntries(templates)));
    const errors = findings.filter(({ rule }) => rule.startsWith('E'));
    expect(names.filter((name) => !errors.some(({ where }) => where.startsWith(`${name} `)))).toEqual([]);
  });

  it('checkov sees a database that is open to the world and not encrypted', async () => {
    const template = broken(({ database }) =>
      Object.assign(database, { PubliclyAccessible: true, StorageEncrypted: false }),
    );
    const { findings } = await checkov(python, written(join(folder, 'open'), { open: template }));
    expect(review(findings, SKIPPED).unexplained).toEqual([
      expect.stringMatching(/^CKV_AWS_16 at open AWS::RDS::DBInstance /),
      expect.stringMatching(/^CKV_AWS_17 at open AWS::RDS::DBInstance /),
    ]);
  });

  it('a row that explains nothing is noticed', async () => {
    const gone: Reviewed = { rule: 'CKV_AWS_149', where: /AWS::SecretsManager::Secret /, reason: 'there was one once' };
    expect(review([], [gone]).stale).toEqual(['CKV_AWS_149 at AWS::SecretsManager::Secret ']);
  });
});

type Properties = Record<string, unknown>;
interface Parts {
  readonly stream: Properties;
  readonly table: Properties;
  readonly database: Properties;
  readonly task: Properties;
  readonly policy: Properties;
}

/** Mistakes that a template can carry without being refused before the deploy is under way. */
const WRONG: Readonly<Record<string, (parts: Parts) => void>> = {
  'an-unknown-property': ({ stream }) => Object.assign(stream, { Retention: 48 }),
  'a-stream-without-shards': ({ stream }) => Object.assign(stream, { ShardCount: 0 }),
  'a-key-that-is-not-defined': ({ table }) => Object.assign(table, { AttributeDefinitions: [] }),
  'an-unknown-engine': ({ database }) => Object.assign(database, { Engine: 'postgresql' }),
  'a-size-that-fargate-has-not': ({ task }) => Object.assign(task, { Cpu: '256', Memory: '8192' }),
  'a-malformed-statement': ({ policy }) =>
    Object.assign(policy, {
      PolicyDocument: { Version: '2012-10-17', Statement: [{ Effect: 'Permit', Resource: '*' }] },
    }),
};

/** The pattern's template with a mistake. */
function broken(mistake: (parts: Parts) => void): Template {
  const template = structuredClone(synthesize(SHAPES.pattern).templates.Billing!);
  const first = (type: string) => {
    const found = Object.values(template.Resources).find((resource) => resource.Type === type);
    if (found?.Properties === undefined) throw new Error(`there is no ${type}`);
    return found.Properties as Properties;
  };
  mistake({
    stream: first('AWS::Kinesis::Stream'),
    table: first('AWS::DynamoDB::GlobalTable'),
    database: first('AWS::RDS::DBInstance'),
    task: first('AWS::ECS::TaskDefinition'),
    policy: first('AWS::IAM::Policy'),
  });
  return template;
}
