/** A stack to put constructs into, and readers of what came out. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Stack, type StackProps } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as ecs from 'aws-cdk-lib/aws-ecs';
import * as secrets from 'aws-cdk-lib/aws-secretsmanager';
import { afterAll, expect } from 'vitest';
import {
  BillingConsumer,
  type BillingConsumerProps,
  BillingStream,
  LeaseTable,
  LedgerDatabase,
  SpendCap,
} from '../../constructs/aws';

// The CDK warns of its own calls to its own deprecated names.
process.env.JSII_DEPRECATED = 'quiet';

/** The CDK writes every synthesis to a folder and leaves it there. */
const OUT = mkdtempSync(join(tmpdir(), 'chargeonce-synth-'));
afterAll(() => rmSync(OUT, { recursive: true, force: true }));

export const newApp = () => new App({ outdir: mkdtempSync(join(OUT, 'out-')) });

export const newStack = (id = 'Billing', props?: StackProps) => new Stack(newApp(), id, props);

/** Stands for the packaged image where a test is not about it. */
export const image = ecs.ContainerImage.fromRegistry('example.test/chargeonce@sha256:0');

export const vpcOf = (stack: Stack): ec2.IVpc => new ec2.Vpc(stack, 'Vpc', { maxAzs: 2 }) as ec2.IVpc;

export const stripeKey = (stack: Stack) => secrets.Secret.fromSecretNameV2(stack, 'StripeKey', 'billing/stripe-rk');

export interface ConsumerStack {
  readonly stack: Stack;
  readonly consumer: BillingConsumer;
}

/** A consumer with all it needs. `change` gets the props it would have and answers those it shall have. */
export function consumerStack(
  change: (props: BillingConsumerProps, stack: Stack) => BillingConsumerProps = (props) => props,
  stack = newStack(),
  id = 'Consumer',
) {
  const vpc = vpcOf(stack);
  const consumer = new BillingConsumer(
    stack,
    id,
    change(
      {
        stream: new BillingStream(stack, 'Stream'),
        leaseTable: new LeaseTable(stack, 'Leases'),
        ledger: new LedgerDatabase(stack, 'Ledger', { vpc }),
        stripeKey: stripeKey(stack),
        spendCap: SpendCap.off(),
        vpc,
        image,
      },
      stack,
    ),
  );
  return { stack, consumer } satisfies ConsumerStack;
}

/** A reference to a resource whose logical id begins like this. */
export const ref = (start: string) => ({ Ref: expect.stringMatching(new RegExp(`^${start}`)) });

/** An attribute of a resource whose logical id begins like this. */
export const att = (start: string, name: string) => ({
  'Fn::GetAtt': [expect.stringMatching(new RegExp(`^${start}`)), name],
});

export interface Resource {
  readonly Type: string;
  // biome-ignore lint/suspicious/noExplicitAny: a template is JSON of any shape
  readonly Properties: any;
  readonly DependsOn?: readonly string[];
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
}

/** The resources of a type by logical id. */
export function resources(stack: Stack, type: string): Record<string, Resource> {
  return Template.fromStack(stack).findResources(type) as Record<string, Resource>;
}

/** The one resource of a type. */
export function only(stack: Stack, type: string): Resource {
  const found = Object.values(resources(stack, type));
  if (found.length !== 1) throw new Error(`${found.length} resources are ${type}`);
  return found[0]!;
}

interface ContainerDefinition {
  readonly Name: string;
  readonly Environment?: readonly { readonly Name: string; readonly Value: unknown }[];
  readonly Secrets?: readonly { readonly Name: string; readonly ValueFrom: unknown }[];
  readonly [property: string]: unknown;
}

/** Where a container runs: the service's task (`worker`, and `migrate` at start), or a task that is started by hand. */
export type ContainerName = 'worker' | 'migrate' | 'ops';

/** The one container of this name, with its task definition, and its environment and secrets as maps. */
export function container(stack: Stack, name: ContainerName) {
  const found = Object.entries(resources(stack, 'AWS::ECS::TaskDefinition')).flatMap(([id, task]) =>
    (task.Properties.ContainerDefinitions as ContainerDefinition[])
      .filter((each) => each.Name === name)
      .map((definition) => ({ id, task, definition })),
  );
  const [one, ...more] = found;
  if (one === undefined || more.length > 0) throw new Error(`${found.length} containers are named ${name}`);
  const { id, task, definition } = one;
  return {
    id,
    task,
    definition,
    environment: Object.fromEntries((definition.Environment ?? []).map((each) => [each.Name, each.Value])),
    secrets: Object.fromEntries((definition.Secrets ?? []).map((each) => [each.Name, each.ValueFrom])),
  };
}

/** All statements of the policies of a role whose logical id contains the text. */
export function statements(stack: Stack, role: string): unknown[] {
  return Object.values(resources(stack, 'AWS::IAM::Policy'))
    .filter((policy) => JSON.stringify(policy.Properties.Roles).includes(role))
    .flatMap((policy) => policy.Properties.PolicyDocument.Statement as unknown[]);
}
