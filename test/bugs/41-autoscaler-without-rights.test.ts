/**
 * Reported of KEDA's scaler for Event Hubs: it finds or may read no checkpoints (kedacore/keda#797, #5249;
 * microsoft/azure-container-apps#1479) and scales to nothing, or to the most there is; at no replica at all a hub
 * without checkpoints never starts one; and replicas beyond the partitions only idle and make the others give
 * partitions away.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { at, type Change, runConsumer, runConsumers } from '../azure/consumer-program';
import { EXAMPLE_STACKS, runExample } from '../azure/example-stacks';
import type { Values } from '../azure/mock-azure';
import type { Registered, Run } from '../azure/mocks';

/** Roles that let the scaler read blobs, and those that let it ask the hub how far it is. */
const READS_BLOBS = ['ba92f5b4-2d11-453d-a403-e96b0029c9fe', '2a2b9908-6ea1-4ae2-8e65-a410df84e7d1'];
const READS_HUB = ['a638d3c7-ab3a-418d-83e6-5f17a39d4fde'];

interface Rule {
  readonly custom: { readonly identity?: string; readonly metadata: Readonly<Record<string, string>> };
}

/** What would be wrong with the scaling of the apps that a program declares. */
function wrongScaling(resources: readonly Registered[]): string[] {
  const of = (type: string) => resources.filter((each) => each.type === `azure-native:${type}`);
  const partitions = Math.min(...of('eventhub:EventHub').map(({ inputs }) => Number(inputs.partitionCount)));
  const apps = of('app:ContainerApp').filter(({ inputs }) => inputs.template !== undefined);
  return apps.flatMap(({ name, inputs }) => {
    const {
      minReplicas,
      maxReplicas,
      rules = [],
    } = at(inputs, 'template', 'scale') as {
      readonly minReplicas: number;
      readonly maxReplicas: number;
      readonly rules?: readonly Rule[];
    };
    return [
      ...(minReplicas >= 1 ? [] : [`${name}: ${minReplicas} replicas at least`]),
      ...(maxReplicas <= partitions ? [] : [`${name}: ${maxReplicas} replicas at most, ${partitions} partitions`]),
      ...(maxReplicas === minReplicas || rules.length > 0 ? [] : [`${name}: nothing scales it`]),
      ...rules.flatMap((rule) => wrongRule(rule, of).map((what) => `${name}: ${what}`)),
    ];
  });
}

function wrongRule({ custom }: Rule, of: (type: string) => readonly Registered[]): string[] {
  const { identity, metadata } = custom;
  if (identity === undefined) return ['its scaler has no identity'];
  // By what the assignments wait for: an identity’s principal is told by Azure alone.
  const worker = of('managedidentity:UserAssignedIdentity').find(({ name, inputs }) =>
    identity.endsWith(`/${String(inputs.resourceName ?? name)}`),
  );
  if (worker === undefined) return ['its scaler’s identity is nobody'];
  const mayOn = (end: string, roles: readonly string[]) =>
    of('authorization:RoleAssignment').some(
      ({ inputs, dependsOn }) =>
        dependsOn.includes(worker.urn) &&
        String(inputs.scope).endsWith(end) &&
        roles.some((role) => String(inputs.roleDefinitionId).endsWith(role)),
    );
  const container = `/storageAccounts/${metadata.storageAccountName}/blobServices/default/containers/${metadata.blobContainer}`;
  const hub = `/namespaces/${metadata.eventHubNamespace}/eventhubs/${metadata.eventHubName}`;
  return [
    ...(mayOn(container, READS_BLOBS) ? [] : ['its scaler may not read the checkpoints']),
    ...(mayOn(hub, READS_HUB) ? [] : ['its scaler may not ask the hub']),
    ...(metadata.checkpointStrategy === 'blobMetadata' ? [] : ['its scaler reads another layout of checkpoints']),
  ];
}

const ENVIRONMENT_ID = '/subscriptions/s/resourceGroups/r/providers/Microsoft.App/managedEnvironments/e';
const SCALED: Change = (args) => ({ ...args, minReplicas: 1, maxReplicas: args.eventHub.partitionCount });
const SHAPES: readonly Change[] = [
  (args) => args,
  SCALED,
  (args) => ({ ...args, minReplicas: 2, maxReplicas: 3 }),
  (args) => ({ ...SCALED(args), migrations: 'manual' }),
  (args) => ({
    ...SCALED(args),
    managedEnvironmentId: ENVIRONMENT_ID,
  }),
];

describe('an app that is scaled by what is unread', () => {
  it('has a scaler that may read what it reads, one replica at least, and one for each partition at most', async () => {
    const { resources } = await runConsumers(SHAPES);
    const rules = resources.filter(({ inputs }) => at(inputs, 'template', 'scale', 'rules', 0) !== undefined);
    expect(rules.length).toBeGreaterThan(2);
    expect(wrongScaling(resources)).toEqual([]);
  });

  it.each(EXAMPLE_STACKS)('is so in the stack %s', async (stack) => {
    expect(wrongScaling((await runExample(stack)).resources)).toEqual([]);
  });

  it.each([
    ['minReplicas is 0', (args) => ({ ...args, minReplicas: 0 })],
    ['maxReplicas is 5', (args) => ({ ...args, maxReplicas: 5 })],
    ['minReplicas is 33', (args) => ({ ...args, minReplicas: 33 })],
  ] satisfies [string, Change][])('is refused otherwise, at preview: %s', async (words, change) => {
    await expect(runConsumer(change, { preview: true })).rejects.toThrow(words);
  });
});

describe('twin: what is wrong is found,', () => {
  let run: Run<unknown>;
  beforeAll(async () => {
    run = await runConsumer(SCALED);
  });
  const changed = (name: string, change: (inputs: Values) => Values) =>
    run.resources.map((each) =>
      each.name === name ? { ...each, inputs: change(structuredClone(each.inputs)) } : each,
    );
  const scale = (change: object) =>
    changed('charges-app', (inputs) => {
      Object.assign(at(inputs, 'template', 'scale') as object, change);
      return inputs;
    });
  const without = (name: string) => run.resources.filter((each) => each.name !== name);

  it('be it no identity, no role, no replica, or too many', () => {
    expect(wrongScaling(run.resources)).toEqual([]);
    expect(wrongScaling(scale({ minReplicas: 0 }))).toEqual(['charges-app: 0 replicas at least']);
    expect(wrongScaling(scale({ maxReplicas: 33 }))).toEqual(['charges-app: 33 replicas at most, 4 partitions']);
    expect(wrongScaling(scale({ rules: [] }))).toEqual(['charges-app: nothing scales it']);
    const anonymous = changed('charges-app', (inputs) => {
      delete (at(inputs, 'template', 'scale', 'rules', 0, 'custom') as { identity?: string }).identity;
      return inputs;
    });
    expect(wrongScaling(anonymous)).toEqual(['charges-app: its scaler has no identity']);
    expect(wrongScaling(without('charges-checkpoint'))).toEqual([
      'charges-app: its scaler may not read the checkpoints',
    ]);
    expect(wrongScaling(without('charges-consume'))).toEqual(['charges-app: its scaler may not ask the hub']);
  });
});
