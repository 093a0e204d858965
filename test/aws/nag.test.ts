/** What AWS Solutions' rules say of the constructs. Each finding is fixed, or acknowledged with its reason. */
import { Stack, Validations } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as iam from 'aws-cdk-lib/aws-iam';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Reviewed, review } from '../support/reviewed';
import { ACKNOWLEDGED, constructAt, findingsIn, reasonFor } from './nag';
import { SHAPES, type Shape } from './shapes';
import { FLAGS, type Synthesis, synthesize, type Template } from './synthesis';

/** Actions that are allowed on more than one resource, of all policies in a template, and on what. */
function wildcards(template: Template): string[] {
  const statements = Object.values(template.Resources)
    .map((resource) => resource.Properties?.PolicyDocument as { Statement: { Action: unknown; Resource: unknown }[] })
    .flatMap((document) => document?.Statement ?? []);
  return statements
    .map(({ Action, Resource }) => `${JSON.stringify(Action)} on ${JSON.stringify(Resource)}`)
    .filter((text) => text.includes('*'));
}

/** The token for the image registry is no resource. */
const WIDE = [/^"ecr:GetAuthorizationToken" on "\*"$/];
const tooWide = (template: Template) => wildcards(template).filter((text) => !WIDE.some((wide) => wide.test(text)));

const planted = (shape: Shape, plant: (stack: Stack) => void) =>
  synthesize(shape, { plant: (app) => plant(new Stack(app, 'Planted')) });

describe('cdk-nag, AwsSolutions', () => {
  let all: readonly Synthesis[];
  beforeAll(() => {
    all = Object.values(SHAPES).flatMap((shape) =>
      Object.values(FLAGS).map((context) => synthesize(shape, { context })),
    );
  });

  it('finds nothing but what is acknowledged, and each acknowledgement is needed', () => {
    const findings = all.flatMap(({ app }) => findingsIn(app));
    expect(review(findings, ACKNOWLEDGED)).toEqual({ unexplained: [], stale: [] });
  });

  it('lets these wildcards pass and no others, whatever else is in their policies', () => {
    const templates = all.flatMap((synthesis) => Object.values(synthesis.templates));
    expect(templates.flatMap(tooWide)).toEqual([]);
    expect(WIDE.filter((wide) => !templates.flatMap(wildcards).some((text) => wide.test(text)))).toEqual([]);
  });

  it.each(Object.keys(SHAPES))('is content with %s once a user has acknowledged the same', (name) => {
    const { app } = synthesize(SHAPES[name as keyof typeof SHAPES]);
    for (const { rule, where } of findingsIn(app)) {
      // As `Validations.of(construct).acknowledge(…)` records it; in the CDK's lowest version that refuses ids with ARNs.
      const construct = constructAt(app, where);
      construct.node.addMetadata(Validations.ACKNOWLEDGED_RULES_METADATA_KEY, { [rule]: reasonFor(rule, where) });
    }
    expect(findingsIn(app)).toEqual([]);
  });
});

describe('this test', () => {
  it('sees a rule that is broken', () => {
    const { app } = planted(SHAPES.pattern, (stack) => {
      const vpc = ec2.Vpc.fromVpcAttributes(stack, 'Vpc', { vpcId: 'vpc-1', availabilityZones: ['a'] });
      const group = new ec2.SecurityGroup(stack, 'Open', { vpc });
      group.addIngressRule(ec2.Peer.anyIpv4(), ec2.Port.tcp(22));
    });
    const { unexplained } = review(findingsIn(app), ACKNOWLEDGED);
    expect(unexplained).toContainEqual(expect.stringMatching(/^AwsSolutions-EC23 at Planted\/Open\/Resource/));
  });

  it('sees an acknowledgement that nothing needs any more', () => {
    const { app } = synthesize(SHAPES.pattern);
    const gone: Reviewed = { rule: 'AwsSolutions-KDS1', where: /Stream/, reason: 'was not encrypted once' };
    expect(review(findingsIn(app), [...ACKNOWLEDGED, gone]).stale).toContain('AwsSolutions-KDS1 at Stream');
  });

  it('sees a wildcard that hides behind the one that is acknowledged', () => {
    const { templates } = planted(SHAPES.pattern, (stack) => {
      const role = new iam.Role(stack, 'ExecutionRole', { assumedBy: new iam.AccountRootPrincipal() });
      role.addToPolicy(new iam.PolicyStatement({ actions: ['ecr:BatchGetImage'], resources: ['*'] }));
    });
    expect(tooWide(templates.Planted!)).toEqual(['"ecr:BatchGetImage" on "*"']);
  });
});
