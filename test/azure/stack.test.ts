import * as pulumi from '@pulumi/pulumi';
import { describe, expect, it, vi } from 'vitest';
import { runProgram } from './mocks';

describe.each([false, true])('the stack, preview %s', (preview) => {
  it('runs out of the box', async () => {
    vi.resetModules();
    const run = await runProgram(() => import('../../stacks/azure'), { preview });
    expect(run.ofType('azure-native:app:ContainerApp')).toHaveLength(1);
  });
  it('composed', async () => {
    vi.resetModules();
    pulumi.runtime.setAllConfig({ 'billing:stripeKey': 'rk_test_1' });
    const run = await runProgram(() => import('../../stacks/azure/composed'), { preview });
    if (!preview)
      console.log(
        JSON.stringify(run.named('charges-app').inputs, null, 1),
        JSON.stringify(run.named('charges-migrate').inputs, null, 1),
      );
    expect(run.ofType('azure-native:app:ContainerApp')).toHaveLength(1);
  });
});
