/** The example that is also what `npm start` runs. Needs the packaged image, as a deploy does. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packagedImage } from '../../constructs/aws/packaged-image';
import { billingApp } from '../../stacks/aws/app';

// The CDK warns of its own calls to its own deprecated names.
process.env.JSII_DEPRECATED = 'quiet';

const ROOT = join(__dirname, '../..');

describe('stacks/aws', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'chargeonce-app-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('is synthesized in this process, to where it is told, without Docker', () => {
    const out = join(folder, 'here');
    const [stack, ...more] = billingApp(out).synth().stacks;
    expect(more).toEqual([]);
    expect(stack?.stackName).toBe('Billing');
    expect(existsSync(join(out, 'Billing.template.json'))).toBe(true);
  });

  it('carries the very image that was packaged', () => {
    const [image] = readdirSync(join(folder, 'here')).filter((name) => name.startsWith('asset.'));
    const bundle = (of: string) => readFileSync(join(of, 'chargeonce.js'));
    expect(bundle(join(folder, 'here', image!)).equals(bundle(packagedImage('kinesis')))).toBe(true);
  });

  it('is what cdk.json starts', () => {
    const { app } = JSON.parse(readFileSync(join(ROOT, 'cdk.json'), 'utf8')) as { app: string };
    expect(app).toBe('npx tsx stacks/aws/app.ts');
    const out = join(folder, 'there');
    const env = { PATH: process.env.PATH ?? '', HOME: folder, CDK_OUTDIR: out, JSII_DEPRECATED: 'quiet' };
    execFileSync(process.execPath, ['--require', 'tsx/cjs', 'stacks/aws/app.ts'], { cwd: ROOT, env, stdio: 'pipe' });
    const template = (of: string) => readFileSync(join(of, 'Billing.template.json'), 'utf8');
    expect(template(out)).toBe(template(join(folder, 'here')));
  });
});
