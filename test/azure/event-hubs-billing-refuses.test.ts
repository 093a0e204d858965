/** What the pattern refuses: once, in its own words, before anything is made. */
import * as pulumi from '@pulumi/pulumi';
import { describe, expect, it } from 'vitest';
import { BillingEventHub, EventHubsBilling, type EventHubsBillingArgs, LedgerDatabase } from '../../constructs/azure';
import { GROUP, IMAGE, SECRET_URI, VAULT_ID } from './consumer-program';
import { type Run, runProgram } from './mocks';

const ARGS: EventHubsBillingArgs = {
  resourceGroupName: GROUP,
  image: IMAGE,
  stripeKeySecretUri: SECRET_URI,
  keyVaultId: VAULT_ID,
  spendCap: { perPeriod: { usd: 50_000_00 } },
  alertEmails: ['billing-oncall@contoso.com'],
};

interface Verdict {
  /** Lines of the error; none when it was taken. */
  readonly lines: readonly string[];
  /** What was registered in spite of it. */
  readonly made: Run<unknown>['resources'];
}

/** What the pattern says of it, and what it had made by then. */
async function verdict(change: () => unknown): Promise<Verdict> {
  let refused: unknown;
  const run = await runProgram(() => {
    const args = change();
    try {
      new EventHubsBilling('usage', args as EventHubsBillingArgs);
    } catch (error) {
      refused = error;
    }
  });
  if (refused !== undefined) expect(pulumi.RunError.isInstance(refused)).toBe(true);
  const made = run.resources.filter(({ name }) => name.startsWith('usage'));
  return { lines: refused === undefined ? [] : (refused as Error).message.split('\n'), made };
}

describe('the pattern', () => {
  it('says all that is wrong with its parts at once, and has made none of them', async () => {
    const { lines, made } = await verdict(() => ({
      ...ARGS,
      eventHub: { partitionCount: 0, consumerGroupName: '-' },
      checkpointStore: { sku: 'Standard_GRS' },
      ledger: { version: '13' },
      image: 'contoso.azurecr.io/chargeonce:latest',
      stripeMaxRps: 20,
      alertEmails: ['nobody'],
    }));
    const props = ['eventHub.partitionCount', 'eventHub.consumerGroupName', 'checkpointStore.sku', 'ledger.version'];
    expect(lines).toEqual(
      [...props, 'image', 'alertEmails'].map((prop) => expect.stringContaining(`[EventHubsBilling usage] ${prop} is `)),
    );
    expect(made).toEqual([]);
  });

  it('makes all of it when none of that is wrong', async () => {
    const { lines, made } = await verdict(() => ({
      ...ARGS,
      eventHub: { partitionCount: 4 },
      ledger: { version: '17' },
    }));
    expect(lines).toEqual([]);
    expect(made.length).toBeGreaterThan(28);
  });

  it('refuses an image before anything else is made', async () => {
    const { lines, made } = await verdict(() => ({ ...ARGS, image: 'contoso.azurecr.io/chargeonce:latest' }));
    expect(lines).toEqual([expect.stringMatching(/^\[EventHubsBilling usage\] image is .*tag latest and no digest/)]);
    expect(made).toEqual([]);
  });

  it('counts the replicas against the hub that it would make, and the one it is given', async () => {
    const nine = (eventHub: EventHubsBillingArgs['eventHub']) => ({ ...ARGS, minReplicas: 9, eventHub });
    const refused = [expect.stringMatching(/^\[EventHubsBilling usage\] minReplicas is 9; .* 1 to 4/)];
    expect((await verdict(() => nine(undefined))).lines).toEqual(refused);
    expect((await verdict(() => nine(new BillingEventHub('four', { resourceGroupName: GROUP })))).lines).toEqual(
      refused,
    );
    expect((await verdict(() => nine({ partitionCount: 9 }))).lines).toEqual([]);
  });

  it('asks for the workers’ subnet where it can be said', async () => {
    const network = { subnetId: 's', privateDnsZoneId: 'z' };
    const ofPattern = (await verdict(() => ({ ...ARGS, network }))).lines;
    expect(ofPattern).toEqual([expect.stringMatching(/ network\.environmentSubnetId is not given; .*Microsoft\.App/)]);
    const ofLedger = (
      await verdict(() => ({ ...ARGS, ledger: new LedgerDatabase('theirs', { resourceGroupName: GROUP, network }) }))
    ).lines;
    expect(ofLedger).toEqual([expect.stringMatching(/ ledger is one whose network has no environmentSubnetId; /)]);
    expect([...ofPattern, ...ofLedger].join()).not.toContain('managedEnvironmentId');
    const whole = { ...network, environmentSubnetId: 'e' };
    expect((await verdict(() => ({ ...ARGS, network: whole }))).lines).toEqual([]);
  });

  it('refuses a network for a ledger that is in one', async () => {
    const network = { subnetId: 's', privateDnsZoneId: 'z', environmentSubnetId: 'e' };
    const { lines } = await verdict(() => ({ ...ARGS, network, ledger: { existing: { serverName: 'theirs' } } }));
    expect(lines).toEqual([expect.stringMatching(/ network is a network; allowed: none beside existing/)]);
  });
});
