/** Wherever and however a user synthesizes: no error, no warning, no name of another partition, the same each time. */
import { Annotations, type App, type Environment, Stack } from 'aws-cdk-lib';
import { Template as Assertions } from 'aws-cdk-lib/assertions';
import * as iam from 'aws-cdk-lib/aws-iam';
import { beforeAll, describe, expect, it } from 'vitest';
import { SHAPES, type Shape } from './shapes';
import { FLAGS, type Synthesis, synthesize, type Template } from './synthesis';

const account = '111111111111';
/** Where it shall run, and the partition that may be named there; none where it is not known. */
const ENVIRONMENTS: Readonly<Record<string, { readonly env?: Environment; readonly partition?: string }>> = {
  'no environment': {},
  'eu-central-1': { env: { account, region: 'eu-central-1' }, partition: 'aws' },
  'cn-north-1': { env: { account, region: 'cn-north-1' }, partition: 'aws-cn' },
  'us-gov-west-1': { env: { account, region: 'us-gov-west-1' }, partition: 'aws-us-gov' },
};

/** ARNs that name a partition, unless it is that of the environment. */
function foreign(templates: Readonly<Record<string, Template>>, partition?: string): string[] {
  const named = JSON.stringify(templates).match(/arn:aws[\w-]*:[^"]*/g) ?? [];
  return named.filter((arn) => arn.split(':')[1] !== partition);
}

/** AWS names these the same in every partition. The last is the CDK's own, for the default security group of a VPC. */
const PRINCIPALS = [
  'ecs-tasks.amazonaws.com',
  'monitoring.rds.amazonaws.com',
  'vpc-flow-logs.amazonaws.com',
  'lambda.amazonaws.com',
];
const principals = (template: Template) =>
  Object.values(template.Resources).flatMap(
    ({ Properties }) =>
      JSON.stringify(Properties?.AssumeRolePolicyDocument ?? {}).match(/[\w.-]+\.amazonaws\.com[.\w]*/g) ?? [],
  );

const combinations = Object.entries(SHAPES).flatMap(([name, shape]) =>
  Object.entries(ENVIRONMENTS).flatMap(([where, { env, partition }]) =>
    Object.entries(FLAGS).map(([flags, context]) => ({
      ...{ name, shape: shape as Shape, where, flags, partition },
      options: { context, ...(env === undefined ? {} : { env }) },
    })),
  ),
);

describe.each(combinations)('$name in $where with $flags', ({ shape, options, partition }) => {
  let synthesis: Synthesis;
  beforeAll(() => {
    synthesis = synthesize(shape, options);
  });

  it('is synthesized without a word, and comes out the same again', () => {
    // Whose servers of RDS the packaged image cannot verify, and says so.
    const rootless = partition !== undefined && partition !== 'aws';
    const words = synthesis.annotations.filter((text) => !(rootless && text.includes('ENV PGSSLROOTCERT')));
    expect(words).toEqual([]);
    expect(synthesize(shape, options).templates).toEqual(synthesis.templates);
  });

  it('has no resources that wait for each other, and nothing of another partition', () => {
    expect(foreign(synthesis.templates, partition)).toEqual([]);
    for (const template of Object.values(synthesis.templates)) {
      for (const principal of principals(template)) expect(PRINCIPALS).toContain(principal);
      // Reading a template throws when its resources depend on each other in a ring.
      Assertions.fromJSON(template as Record<string, unknown>);
    }
  });
});

describe('this test', () => {
  const planted = (plant: (stack: Stack) => void) =>
    synthesize(SHAPES.pattern, { plant: (app: App) => plant(new Stack(app, 'Planted')) });

  it('sees a name of another partition', () => {
    const { templates } = planted((stack) => {
      const role = new iam.Role(stack, 'Role', { assumedBy: new iam.AccountRootPrincipal() });
      role.addToPolicy(new iam.PolicyStatement({ actions: ['s3:GetObject'], resources: ['arn:aws:s3:::events/1'] }));
    });
    expect(foreign(templates)).toEqual(['arn:aws:s3:::events/1']);
    expect(foreign(templates, 'aws-cn')).toEqual(['arn:aws:s3:::events/1']);
    expect(foreign(templates, 'aws')).toEqual([]);
  });

  it('sees a warning', () => {
    const { annotations } = planted((stack) => Annotations.of(stack).addWarningV2('test:late', 'It is late.'));
    expect(annotations).toContainEqual(expect.stringMatching(/^warning at \/Planted: It is late\./));
  });

  it('sees a ring', () => {
    const { templates } = planted((stack) => {
      const [a, b] = ['A', 'B'].map((id) => new iam.CfnGroup(stack, id));
      a!.addDependency(b!);
      b!.addOverride('DependsOn', ['A']);
    });
    expect(() => Assertions.fromJSON(templates.Planted as Record<string, unknown>)).toThrow(
      'dependency cycle: A -> B -> A',
    );
  });
});
