/**
 * Reported of every first deploy to Azure: a role assignment for an identity that was made seconds ago fails with
 * PrincipalNotFound when it does not say that it is a service principal; and one that was made is refused with 401 or 403
 * for minutes, in which the consumer ends, is restarted, and ends again.
 */
import * as authorization from '@pulumi/azure-native/authorization';
import * as pulumi from '@pulumi/pulumi';
import { beforeAll, describe, expect, it } from 'vitest';
import { BillingConsumer } from '../../constructs/azure';
import { systemHost } from '../../runtime/host/host';
import { GROUP, smallest } from '../azure/consumer-program';
import { runExample } from '../azure/example-stacks';
import { type Registered, type Run, runProgram } from '../azure/mocks';
import { useHubBilling } from '../support/hub-billing';
import { until } from '../support/until';

const PRINCIPAL = '00000000-0000-4000-8000-00000000000a';
/** What gives an identity rights: roles, and the administrators of a database server. */
const GIVES_RIGHTS = [
  'azure-native:authorization:RoleAssignment',
  'azure-native:dbforpostgresql:AdministratorsMicrosoftEntra',
];

const givers = ({ resources }: Run<unknown>) => resources.filter(({ type }) => GIVES_RIGHTS.includes(type));
const withoutType = (run: Run<unknown>) =>
  givers(run)
    .filter(({ inputs }) => inputs.principalType !== 'ServicePrincipal')
    .map(({ name }: Registered) => name);

/** Every role that a component gives, by itself or when it is asked to. */
const everyGrant = (preview: boolean) =>
  runProgram(
    () => {
      const args = smallest();
      const { eventHub, checkpointStore, ledger } = args;
      eventHub.grantPublish('producer', PRINCIPAL);
      eventHub.grantConsume('reader', PRINCIPAL);
      checkpointStore.grantCheckpoint('writer', PRINCIPAL);
      checkpointStore.grantRead('scaler', PRINCIPAL);
      ledger.grantMigrate('migrator', { principalId: PRINCIPAL, principalName: 'migrator' });
      return new BillingConsumer('charges', { ...args, migrations: 'manual', maxReplicas: 4 });
    },
    { preview },
  );

describe.each([true, false])('what gives an identity rights, with preview %s', (preview) => {
  const runs = new Map<string, Run<unknown>>();
  beforeAll(async () => {
    runs.set('every component', await everyGrant(preview));
    for (const stack of ['pattern', 'composed'] as const) runs.set(stack, await runExample(stack, preview));
  });

  it.each(['every component', 'pattern', 'composed'])('says that it is a service principal: %s', (what) => {
    const run = runs.get(what) as Run<unknown>;
    expect(givers(run).length).toBeGreaterThan(4);
    expect(withoutType(run)).toEqual([]);
  });
});

it('twin: one that does not say so is found', async () => {
  const run = await runProgram(() => {
    const group = { resourceGroupName: GROUP };
    const parent = new pulumi.ComponentResource('test:index:Bare', 'bare', group);
    const roleDefinitionId = '/providers/Microsoft.Authorization/roleDefinitions/x';
    return new authorization.RoleAssignment(
      'bare-role',
      { scope: '/', principalId: PRINCIPAL, roleDefinitionId },
      { parent },
    );
  });
  expect(withoutType(run)).toEqual(['bare-role']);
});

describe('a start before the roles are known', () => {
  const world = useHubBilling();
  const PAUSE_MS = 2_000;
  /** As many refusals as a minute has at that pause. */
  const REFUSALS = 60_000 / PAUSE_MS;
  const MINUTES_MS = 600_000;
  /** The pauses between two tries are short, and the clock goes on by them. */
  function hastyHost() {
    let ahead = 0;
    const sleep: typeof systemHost.sleep = (ms, signal) => {
      if (ms !== PAUSE_MS) return systemHost.sleep(ms, signal);
      ahead += ms;
      return systemHost.sleep(5, signal);
    };
    return { ...systemHost, sleep, monotonic: () => systemHost.monotonic() + ahead };
  }

  it('waits through a minute of 401 and 403 from storage and hub, names the roles, and charges then', async () => {
    const { hub, worker, publish, charges, charged } = world();
    const forbidden = { kind: 'refuse', status: 403, code: 'AuthorizationPermissionMismatch' } as const;
    const unauthorized = { kind: 'refuse', status: 401, code: 'InvalidAuthenticationInfo' } as const;
    const refused = [forbidden, unauthorized].map((action) => hub.proxy.inject({ action, times: REFUSALS / 2 }));
    const { faults } = hub.broker;
    faults.refuseTokens(MINUTES_MS);
    faults.refuseLinks(MINUTES_MS);
    const newcomer = await worker('newcomer', { source: { host: hastyHost() } });
    await until('storage has refused for a minute', () => refused.every(({ hits }) => hits.length === REFUSALS / 2));
    const hubRefuses = () => /^the hub usage refuses this identity/.test(newcomer.notReady() ?? '');
    await until('the hub refuses it', hubRefuses);
    const ofToken = newcomer.notReady();
    faults.refuseTokens(0);
    await until('and then its link', () => hubRefuses() && newcomer.notReady() !== ofToken);
    faults.refuseLinks(0);
    await until('it reads', () => newcomer.held() === 1);
    await publish(['ann'], '0');
    await charged(['ann']);
    expect(charges(['ann'])).toEqual([1]);
    expect(
      newcomer.log.has(/refuses this identity.*Azure Event Hubs Data Receiver.*Storage Blob Data Contributor/),
    ).toBe(true);
    // Said once a minute, not once a try.
    expect(newcomer.log.matching('refuses this identity').length).toBeLessThan(REFUSALS / 2);
    expect(newcomer.notReady()).toBeUndefined();
  });

  it('twin: without patience it ends at the first', async () => {
    const { hub, worker } = world();
    const refused = hub.proxy.inject({ action: { kind: 'refuse', status: 403, code: 'AuthorizationFailure' } });
    const hasty = await worker('hasty', { source: { patienceMs: 0 } });
    await expect(hasty.running).rejects.toThrow(`the container ${hub.container.containerName} has refused`);
    expect(refused.hits).toHaveLength(1);
    refused.remove();
  });
});
