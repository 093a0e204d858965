/** The packed constructs on the lowest and on the newest version of the CDK that they say they work with. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import manifest from '../../package.json';
import { pack, project, ROOT, run, tools } from './packed';
import type { Checked, Synthesized } from './synth-shapes';

/** Ours is the lowest; the newest is the last one that was looked at: raise it, and see what this test says. */
const LOWEST = manifest.devDependencies['aws-cdk-lib'];
const NEWEST = '2.276.0';

const CDK = ['aws-cdk-lib', 'constructs', 'cdk-nag'];
const folder = mkdtempSync(join(tmpdir(), 'chargeonce-cdk-'));
const synthesized: Record<string, Synthesized[]> = {};
let checked: Checked[];

beforeAll(async () => {
  const packed = await pack();
  const { constructs, 'cdk-nag': nag } = manifest.devDependencies;
  const newest = await tools('cdk', { 'aws-cdk-lib': NEWEST, constructs, 'cdk-nag': nag });
  const versions = { [LOWEST]: ROOT, [NEWEST]: newest };
  for (const [version, from] of Object.entries(versions)) {
    const where = project(packed, join(folder, version), CDK, from);
    await program(join(where, 'synth.js'));
    synthesized[version] = JSON.parse(run(where, process.execPath, ['synth.js', 'synth'])) as Synthesized[];
    if (version === NEWEST) checked = JSON.parse(run(where, process.execPath, ['synth.js', 'nag'])) as Checked[];
  }
}, 300_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The shapes as one file that finds the constructs in the package, as a user's app does. */
async function program(outfile: string): Promise<void> {
  const asUser: Plugin = {
    name: 'as a user',
    setup: ({ onResolve }) =>
      onResolve({ filter: /\/constructs\/aws$/ }, () => ({ path: 'chargeonce/aws', external: true })),
  };
  const entry = join(ROOT, 'test/package/synth-shapes.ts');
  await build({
    ...{ entryPoints: [entry], outfile, bundle: true, platform: 'node', packages: 'external', logLevel: 'error' },
    plugins: [asUser],
  });
}

describe('the range of aws-cdk-lib', () => {
  it(`is from ${LOWEST}, which is what everything here is built and tested with`, () => {
    expect(manifest.peerDependencies['aws-cdk-lib']).toBe(`^${LOWEST}`);
  });

  it('comes out the same at both ends, but for what the CDK itself writes otherwise', () => {
    const at = (version: string) =>
      synthesized[version]!.map(({ shape, flags, templates }) => ({ shape, flags, templates: alike(templates) }));
    expect(at(NEWEST)).toEqual(at(LOWEST));
    expect(at(LOWEST)).toHaveLength(8);
  });

  it('warns of nothing at either end, but of flags that an old app has not decided on', () => {
    const said = Object.values(synthesized).flatMap((all) =>
      all.flatMap(({ flags, annotations }) => annotations.map((annotation) => `${flags}: ${annotation}`)),
    );
    expect(said.filter((each) => !/^no flags: .*crossStackReferencesDefaultStrong/.test(each))).toEqual([]);
  });
});

describe('AWS Solutions’ rules as a plugin of the synthesis', () => {
  it.each(['pattern', 'composed', 'sized', 'imported'])(
    'let %s pass when its findings are acknowledged, and not before',
    (shape) => {
      const { acknowledged, bare } = checked.find((each) => each.shape === shape)!;
      expect(acknowledged).toBe('fine');
      expect(bare).toContain('AwsSolutions-ECS2');
    },
  );
});

describe('this test', () => {
  it('would see a property that only one version writes', () => {
    const [first] = synthesized[LOWEST]!;
    const changed = structuredClone(first!.templates) as Record<
      string,
      { Resources: Record<string, { Type: string }> }
    >;
    Object.values(changed.Billing!.Resources)[0]!.Type = 'AWS::S3::Bucket';
    expect(alike(changed)).not.toEqual(alike(first!.templates));
  });
});

/**
 * What of two versions' templates shall be the same: references between stacks are written as exports or as outputs,
 * an absent list as an empty one, a text of a dashboard with its background.
 */
function alike(templates: unknown): unknown {
  const text = JSON.stringify(templates)
    .replace(/{"Fn::ImportValue":"(\w+):ExportsOutput(\w+)[0-9A-F]{8}"}/g, '"from $1: $2"')
    .replace(
      /{"Fn::GetStackOutput":{"StackName":"(\w+)","Region":{"Ref":"AWS::Region"},"OutputName":"PublishOutput(\w+)[0-9A-F]{8}"}}/g,
      '"from $1: $2"',
    )
    .replace(/"(Exports|Publish)Output(\w+)[0-9A-F]{8}":{"Value":({[^}]*})(,"Export":{[^}]*})?}/g, '"Output$2":$3')
    .replaceAll(',"LoadBalancers":[]', '')
    .replaceAll(String.raw`,\"background\":\"transparent\"`, '');
  return JSON.parse(text);
}
