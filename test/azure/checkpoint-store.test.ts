import { expect, test } from 'vitest';
import { BillingEventHub, CheckpointStore } from '../../constructs/azure';
import { knownValues, runProgram } from './mocks';

test('a store has an account of its own', async () => {
  const run = await runProgram(() => new CheckpointStore('usage', { resourceGroupName: 'rg' }));
  expect(run.named('usage-account').inputs).toMatchObject({ kind: 'StorageV2', allowSharedKeyAccess: false });
  expect(await knownValues(run.result.connectionEnvironment)).toEqual({
    CHECKPOINT_CONTAINER_URL: expect.stringMatching(/^https:\/\/usage[0-9a-f]{8}\.blob\.core\.windows\.net\/chargeonce$/),
  });
});
test.each([true, false])('partitions %s', async (preview) => {
  await expect(runProgram(() => new BillingEventHub('usage', { resourceGroupName: 'rg', partitionCount: 8 }), { preview, deployed: { 'usage-hub': { partitionCount: 4 } } })).rejects.toThrow('partitionCount is 8 for a hub that has 4');
});
