/** The two programs in `stacks/azure`, which are also what readers copy. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as pulumi from '@pulumi/pulumi';
import { describe, expect, it, vi } from 'vitest';
import { readConfig } from '../../runtime/config';
import { at, container, environmentOf } from './consumer-program';
import { runExample } from './example-stacks';
import { runProgram } from './mocks';

const ROOT = join(__dirname, '../..');

describe('Pulumi.yaml', () => {
  it('runs the stack with tsx, so that no other compiler of TypeScript is needed', () => {
    const said = readFileSync(join(ROOT, 'Pulumi.yaml'), 'utf8');
    const [, main = ''] = /^main: (.+)$/m.exec(said) ?? [];
    expect(existsSync(join(ROOT, main)) && main).toBe('stacks/azure/index.ts');
    expect(said).toMatch(
      /^runtime:\n {2}name: nodejs\n {2}options:\n {4}typescript: false\n {4}nodeargs: "--import tsx"$/m,
    );
  });
});

describe.each(['pattern', 'composed'] as const)('the stack, %s', (stack) => {
  const consumer = { pattern: 'usage-consumer', composed: 'charges' }[stack];

  it.each([true, false])('runs out of the box, with preview %s', async (preview) => {
    const run = await runExample(stack, preview);
    expect(run.ofType('azure-native:app:ContainerApp')).toHaveLength(1);
    expect(run.result).toHaveProperty('opsCommand');
    expect(run.result).not.toHaveProperty('default');
  });

  it('starts workers that the runtime takes', async () => {
    const run = await runExample(stack);
    const worker = environmentOf(container(run, 'worker', consumer));
    expect(readConfig(worker)).toMatchObject({ ok: true, warnings: [] });
  });
});

describe('what is set for the stack', () => {
  it('reaches it', async () => {
    vi.resetModules();
    pulumi.runtime.setAllConfig({
      'billing:resourceGroupName': 'rg-2',
      'billing:image': `contoso.azurecr.io/other@sha256:${'1'.repeat(64)}`,
      'billing:partitionCount': '8',
      'billing:retentionHours': '72',
      'billing:minReplicas': '3',
      'billing:protect': 'false',
      'billing:alertEmails': '["a@contoso.com"]',
      'billing:meteringPrincipalId': '5b2f7a40-1c3e-4d55-9a60-000000000001',
    });
    const run = await runProgram(() => import('../../stacks/azure/index.js'));
    expect(run.named('usage-hub-hub')).toMatchObject({
      protect: false,
      inputs: {
        resourceGroupName: 'rg-2',
        partitionCount: 8,
        retentionDescription: { retentionTimeInHours: 72 },
      },
    });
    expect(container(run, 'worker', 'usage-consumer').image).toContain('/other@');
    expect(at(run.named('usage-consumer-app').inputs, 'template', 'scale')).toMatchObject({ minReplicas: 3 });
    expect(run.named('metering').inputs.principalId).toBe('5b2f7a40-1c3e-4d55-9a60-000000000001');
    const group = run.named('usage-monitoring-action-group').inputs;
    expect(at(group, 'emailReceivers', 0, 'emailAddress')).toBe('a@contoso.com');
  });

  it('is refused by the part that it is wrong for', async () => {
    vi.resetModules();
    pulumi.runtime.setAllConfig({ 'billing:image': 'contoso.azurecr.io/chargeonce:latest' });
    await expect(runProgram(() => import('../../stacks/azure/index.js'))).rejects.toThrow(
      'the tag latest and no digest',
    );
  });
});
