/**
 * Reported of checkpoints in an account with soft delete or versioning (azure-sdk-for-js#10132, azure-docs#19531),
 * which templates of organizations and Azure's own verified modules switch on: each renewal and each checkpoint leaves
 * a copy, listing them takes longer and longer, and one day no worker keeps a partition. It is refused before anything
 * is deployed, through whichever door it comes.
 */
import type { ResourceValidationArgs } from '@pulumi/policy';
import type * as pulumi from '@pulumi/pulumi';
import { describe, expect, it } from 'vitest';
import { CheckpointStore, EventHubsBilling } from '../../constructs/azure';
import { POLICIES } from '../../constructs/azure/policy';
import { IMAGE } from '../azure/consumer-program';
import type { Values } from '../azure/mock-azure';
import { type Registered, type RunOptions, runProgram } from '../azure/mocks';

const GROUP = { resourceGroupName: 'rg-billing' };
const SETTINGS = 'azure-native:storage:BlobServiceProperties';
const KEEPS: readonly (readonly [string, object])[] = [
  ['isVersioningEnabled', { isVersioningEnabled: true }],
  ['deleteRetentionPolicy', { deleteRetentionPolicy: { enabled: true, days: 7 } }],
  ['containerDeleteRetentionPolicy', { containerDeleteRetentionPolicy: { enabled: true, days: 7 } }],
  ['changeFeed', { changeFeed: { enabled: true } }],
  ['restorePolicy', { restorePolicy: { enabled: true, days: 6 } }],
];

/** What a platform team sets on every account, whoever made it. */
const overrides =
  (switched: object): pulumi.ResourceTransformation =>
  ({ type, props, opts }) =>
    type === SETTINGS ? { props: { ...props, ...switched }, opts } : undefined;

const PREVIEW: RunOptions = { preview: true };
const makeStore = (options: RunOptions, opts: pulumi.ComponentResourceOptions = {}) =>
  runProgram(() => new CheckpointStore('usage', GROUP, opts), options);
const makePattern = (opts: pulumi.ComponentResourceOptions) =>
  runProgram(
    () =>
      new EventHubsBilling(
        'billing',
        { ...GROUP, image: IMAGE, stripeKey: 'rk_test_4eC39H', spendCap: 'off', alertEmails: ['a@b.c'] },
        opts,
      ),
    PREVIEW,
  );

describe.each(KEEPS)('%s of a checkpoint account', (setting, switched) => {
  const refusal = `${setting} is switched on; allowed: off`;

  it('is refused at preview when a transform of the component switches it on', async () => {
    await expect(makeStore(PREVIEW, { transformations: [overrides(switched)] })).rejects.toThrow(refusal);
  });

  it('is refused at preview when it is switched on later', async () => {
    const deployed = (await makeStore({})).named('usage-blob-settings').inputs;
    const later = { ...PREVIEW, deployed: { 'usage-blob-settings': deployed } };
    await makeStore(later);
    await expect(makeStore(later, { transformations: [overrides(switched)] })).rejects.toThrow(refusal);
  });

  it('is refused at preview of an account that exists', async () => {
    const existingAccount = { accountName: 'contoso', nothingElseUsesIt: true } as const;
    const lookups = {
      'azure-native:storage:getStorageAccount': (): Values => ({ id: '/contoso', name: 'contoso' }),
      'azure-native:storage:getBlobServiceProperties': (): Values => switched as Values,
    };
    const make = () => new CheckpointStore('usage', { ...GROUP, existingAccount });
    await expect(runProgram(make, { ...PREVIEW, lookups })).rejects.toThrow(refusal);
  });

  it('is refused by the policies, with or without the component’s own guard', async () => {
    const unguarded: pulumi.ResourceTransformation = ({ type, props, opts }) => {
      if (type !== SETTINGS) return undefined;
      const { hooks: _hooks, ...others } = opts as pulumi.CustomResourceOptions;
      return { props: { ...props, ...switched }, opts: others };
    };
    // Without the guard nothing in the program stands against it.
    const { resources } = await makeStore(PREVIEW, { transformations: [unguarded] });
    expect(complaints(resources).join()).toContain(`${setting}: switched on`);
    expect(complaints((await makeStore(PREVIEW)).resources)).toEqual([]);
  });
});

it('is refused in the whole pattern too', async () => {
  const transformations = [overrides({ isVersioningEnabled: true })];
  await expect(makePattern({ transformations })).rejects.toThrow('isVersioningEnabled is switched on; allowed: off');
});

/** What the policies say of what a program declared. */
function complaints(resources: readonly Registered[]): string[] {
  const found: string[] = [];
  for (const { validateResource } of POLICIES) {
    const validate = validateResource as (args: ResourceValidationArgs, report: (text: string) => void) => void;
    for (const { type, urn, name, inputs, protect } of resources) {
      const opts = { protect: protect ?? false };
      validate({ type, urn, name, props: inputs, opts } as ResourceValidationArgs, (text) => found.push(text));
    }
  }
  return found;
}
