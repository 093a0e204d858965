/** Arguments that a component cannot do without, when plain JavaScript or a `!` too many leaves them out. */
import * as pulumi from '@pulumi/pulumi';
import { describe, expect, it } from 'vitest';
import {
  BillingConsumer,
  BillingEventHub,
  BillingMonitoring,
  CheckpointStore,
  EventHubsBilling,
  LedgerDatabase,
} from '../../constructs/azure';
import { GROUP } from './consumer-program';
import { runProgram } from './mocks';

type Component = new (name: string, args: never) => unknown;

const COMPONENTS = {
  EventHubsBilling,
  BillingEventHub,
  CheckpointStore,
  LedgerDatabase,
  BillingConsumer,
  BillingMonitoring,
} satisfies Record<string, Component>;

/** The lines in which a component refuses the arguments. */
async function refused(component: Component, args: unknown): Promise<string[]> {
  let thrown: unknown;
  await runProgram(() => {
    try {
      new component('usage', args as never);
    } catch (error) {
      thrown = error;
    }
  });
  expect(pulumi.RunError.isInstance(thrown), String(thrown)).toBe(true);
  return (thrown as Error).message.split('\n');
}

describe.each(Object.entries<Component>(COMPONENTS))('%s', (name, component) => {
  it.each<[string, { readonly resourceGroupName?: string | null } | undefined]>([
    ['no arguments', undefined],
    ['no resource group', {}],
    ['an empty one', { resourceGroupName: '' }],
    ['null', { resourceGroupName: null }],
  ])('refuses %s in its own words', async (_, args) => {
    const lines = await refused(component, args);
    const received = { '': 'is ""', null: 'is null' }[String(args?.resourceGroupName)] ?? 'is not given';
    expect(lines[0]).toContain(`[${name} usage] resourceGroupName ${received}; allowed: the name of a resource group.`);
    for (const line of lines) expect(line).toMatch(new RegExp(`^\\[${name} usage\\] \\S+ is `));
  });
});

describe('inside', () => {
  it.each<[string, Component, object, string]>([
    ['capture', BillingEventHub, { capture: {} }, 'capture.containerId is not given'],
    ['a network', LedgerDatabase, { network: { privateDnsZoneId: 'z' } }, 'network.subnetId is not given'],
    ['a network', LedgerDatabase, { network: { subnetId: 's' } }, 'network.privateDnsZoneId is not given'],
    ['an existing server', LedgerDatabase, { existing: {} }, 'existing.serverName is not given'],
    [
      'an existing account',
      CheckpointStore,
      { existingAccount: { nothingElseUsesIt: true } },
      'existingAccount.accountName is not given',
    ],
    ['the alerts', BillingMonitoring, {}, 'workspaceId is not given'],
  ])('%s', async (_, component, args, words) => {
    const lines = await refused(component, { resourceGroupName: GROUP, ...args });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(words);
  });

  it('a consumer says which of its three parts are missing, beside all else', async () => {
    const lines = await refused(BillingConsumer, { resourceGroupName: GROUP });
    const props = lines.map((line) => /\] (\S+) is/.exec(line)?.[1]);
    expect(props).toEqual(['eventHub', 'checkpointStore', 'ledger', 'image', 'stripeKey', 'spendCap']);
  });
});
