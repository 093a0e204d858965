/** The smallest real stack, deployed by the CDK's own command line: what is there is what its template says. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { billingApp } from '../../stacks/aws/app';
import { assemble, type Deployment, startDeployment } from './deployment';
import type { DeployedStack } from './read-back/deployed-stack';
import { misfits } from './read-back/expect-deployed';

describe('the pattern', () => {
  const assembly = assemble(billingApp);
  let deployment: Deployment;
  let stack: DeployedStack;

  beforeAll(async () => {
    deployment = await startDeployment();
    await deployment.deploy(assembly);
    stack = await deployment.stack('Billing');
  }, 180_000);

  afterAll(async () => {
    await deployment.close();
    assembly.remove();
  });

  it.each(assembly.types)('%s is what the template says', async (type) => {
    expect(await misfits([stack], type)).toEqual([]);
  });
});
