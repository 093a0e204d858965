/** The example that is composed from parts: three stacks that refer to each other in one direction. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from 'aws-cdk-lib';
import type { CloudFormationStackArtifact } from 'aws-cdk-lib/cx-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { maskAssets } from '../../constructs/aws';
import { composedApp } from '../../stacks/aws/composed';
import { callsOfAws, deployed, option } from './shell';

const NAMES = ['Net', 'Data', 'Compute'] as const;

interface Template {
  readonly Resources: Readonly<Record<string, { readonly Type: string }>>;
  readonly Outputs?: Readonly<Record<string, { readonly Value: unknown }>>;
}

describe('stacks/aws, composed from parts', () => {
  let folder: string;
  let stacks: Record<(typeof NAMES)[number], CloudFormationStackArtifact>;

  const synthesized = (env?: Environment) => {
    const assembly = composedApp(mkdtempSync(join(folder, 'out-')), env).synth();
    return Object.fromEntries(NAMES.map((name) => [name, assembly.getStackByName(name)])) as typeof stacks;
  };
  const template = (name: (typeof NAMES)[number]) => stacks[name].template as Template;
  const types = (name: (typeof NAMES)[number]) => [
    ...new Set(Object.values(template(name).Resources).map(({ Type }) => Type)),
  ];
  const needs = (name: (typeof NAMES)[number]) =>
    stacks[name].dependencies.map(({ id }) => id).filter((id) => NAMES.some((each) => each === id));

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'chargeonce-composed-'));
    stacks = synthesized();
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each(NAMES)('%s is this template', (name) => {
    expect(maskAssets(template(name))).toMatchSnapshot();
  });

  it('refers in one direction: compute to data, both to the network', () => {
    expect(Object.fromEntries(NAMES.map((name) => [name, needs(name).sort()]))).toEqual({
      Net: [],
      Data: ['Net'],
      Compute: ['Data', 'Net'],
    });
  });

  it('keeps nothing in compute that could not be made again', () => {
    for (const type of ['AWS::Kinesis::Stream', 'AWS::DynamoDB::GlobalTable', 'AWS::RDS::DBInstance']) {
      expect(types('Data')).toContain(type);
      expect([...types('Net'), ...types('Compute')]).not.toContain(type);
    }
  });

  it('opens the ledger’s port from compute, where the rule belongs to those who need it', () => {
    expect(types('Compute')).toContain('AWS::EC2::SecurityGroupIngress');
    expect(types('Data')).not.toContain('AWS::EC2::SecurityGroupIngress');
  });

  it('prints the line for people on call, in the cluster that was given', () => {
    const line = deployed(template('Compute').Outputs?.OpsCommand?.Value);
    const [start = []] = callsOfAws(line);
    expect(option(start, '--cluster')).toMatch(/^id-of-Cluster/);
    expect(option(start, '--network-configuration')).toMatch(/subnets=\[import-of-Net:.*,import-of-Net:.*\]/);
  });

  it('warns of nothing, anywhere and in one place', () => {
    const there = synthesized({ account: '111122223333', region: 'eu-west-1' });
    for (const name of NAMES) {
      expect(stacks[name].messages).toEqual([]);
      expect(there[name].messages).toEqual([]);
      expect(there[name].environment).toMatchObject({ account: '111122223333', region: 'eu-west-1' });
    }
  });
});
