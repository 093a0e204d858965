import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Props } from './grpc';
import { Cloud } from './provider/cloud';
import { AZURE_TYPES } from './provider/types';
import { UNKNOWN } from './provider/values';
import { ArmBodies } from './validators/arm-bodies';
import { Typings } from './validators/typings';

const GROUP = { resourceGroupName: 'rg' };
const ACCOUNT = { ...GROUP, kind: 'StorageV2', sku: { name: 'Standard_ZRS' } };
const ALERT = {
  ...GROUP,
  ruleName: 'alert',
  enabled: true,
  location: 'global',
  severity: 1,
  scopes: ['/subscriptions/x'],
  evaluationFrequency: 'PT1M',
  windowSize: 'PT5M',
  criteria: { odataType: 'Microsoft.Azure.Monitor.SingleResourceMultipleMetricCriteria' },
};
const QUERY = { allOf: [{ operator: 'GreaterThan', query: 'x', timeAggregation: 'Count', threshold: 0 }] };

describe('the typings of the SDK, as a check at preview', () => {
  const typings = new Typings();
  const reasons = (type: string, props: Props) =>
    typings.problems(`azure-native:${type}`, props).map(({ reason }) => reason);

  it.each<[string, string, Props]>([
    ['an account', 'storage:StorageAccount', { ...ACCOUNT, minimumTlsVersion: 'TLS1_2', tags: { team: 'billing' } }],
    ['what is not known yet', 'storage:StorageAccount', { ...ACCOUNT, sku: UNKNOWN, minimumTlsVersion: UNKNOWN }],
    ['one of several kinds of criteria', 'monitor:MetricAlert', ALERT],
    ['an enum that the SDK has confused with another', 'monitor:ScheduledQueryRule', { ...GROUP, criteria: QUERY }],
  ])('takes %s', (_what, type, props) => {
    expect(reasons(type, props)).toEqual([]);
  });

  it.each<[string, string, Props, string]>([
    [
      'a misspelt value',
      'storage:StorageAccount',
      { ...ACCOUNT, minimumTlsVersion: '1.2' },
      'minimumTlsVersion is 1.2',
    ],
    [
      'one deep inside',
      'storage:StorageAccount',
      { ...ACCOUNT, sku: { name: 'standard_zrs' } },
      'sku.name is standard_zrs',
    ],
    ['a misspelt name', 'storage:StorageAccount', { ...ACCOUNT, minTls: 'TLS1_2' }, 'there is no property minTls'],
    ['a missing property', 'storage:StorageAccount', { ...GROUP, kind: 'StorageV2' }, 'sku is missing'],
    [
      'a number as text',
      'eventhub:EventHub',
      { ...GROUP, namespaceName: 'n', partitionCount: '4' },
      'must be a number',
    ],
    ['one value for a list', 'monitor:MetricAlert', { ...ALERT, scopes: 'x' }, 'scopes is x; it must be a list'],
    ['a tag that is no text', 'storage:StorageAccount', { ...ACCOUNT, tags: { team: 1 } }, 'tags.team is 1'],
    [
      'a value of the enum that the SDK names by mistake',
      'monitor:ScheduledQueryRule',
      { ...GROUP, criteria: { allOf: [{ operator: 'gt' }] } },
      'criteria.allOf[0].operator is gt',
    ],
    ['a type that there is not', 'storage:Mystery', GROUP, 'is not in @pulumi/azure-native'],
  ])('refuses %s', (_what, type, props, why) => {
    expect(reasons(type, props).join('\n')).toContain(why);
  });
});

describe("the serializers of Microsoft's clients, as a check of bodies", () => {
  const bodies = new ArmBodies();
  const problems = (type: string, props: Props) => {
    const known = AZURE_TYPES[`azure-native:${type}`];
    if (known === undefined) throw new Error(`There is no ${type}.`);
    return bodies.problems(known, props).join('\n');
  };

  it('know every body that the table names one for', () => {
    for (const type of Object.values(AZURE_TYPES)) expect(() => bodies.problems(type, {})).not.toThrow();
  });

  it('take what is right', () => {
    expect(problems('monitor:MetricAlert', ALERT)).toBe('');
  });

  it.each<[string, string, Props, string]>([
    ['a duration that is none', 'monitor:MetricAlert', { ...ALERT, windowSize: '5m' }, 'ISO 8601'],
    [
      'a missing property',
      'monitor:MetricAlert',
      { ...ALERT, windowSize: undefined } as unknown as Props,
      'windowSize',
    ],
    ['a value of a closed enum', 'storage:BlobContainer', { publicAccess: 'Everybody' }, 'publicAccess'],
  ])('refuse %s', (_what, type, props, why) => {
    expect(problems(type, props)).toContain(why);
  });
});

describe('what Azure refuses of an app', () => {
  const APP = AZURE_TYPES['azure-native:app:ContainerApp'];
  const identity =
    '/subscriptions/s/resourceGroups/rg/providers/Microsoft.ManagedIdentity/userAssignedIdentities/worker';
  const app = {
    configuration: {
      secrets: [{ name: 'stripe-key', keyVaultUrl: 'https://kv.vault.azure.net/secrets/key', identity }],
      registries: [{ server: 'contoso.azurecr.io', identity }],
    },
  };
  const roles = [
    ['4633458b-17de-408a-b874-0445c86b69e6', 'may not read the vault'],
    ['7f951dda-4ed3-4680-a7ca-43fe172d538d', 'may not pull from contoso.azurecr.io'],
  ] as const;

  it('a secret and an image that its identity may not read yet, one after another', () => {
    const folder = mkdtempSync(join(tmpdir(), 'chargeonce-cloud-'));
    try {
      const cloud = new Cloud(join(folder, 'cloud.json'), []);
      const put = (id: string, token: string, inputs: Props, outputs: Props) =>
        cloud.put('create', id, { token: `azure-native:${token}`, inputs, outputs });
      put(identity, 'managedidentity:UserAssignedIdentity', {}, { principalId: 'p' });
      for (const [role, why] of roles) {
        expect(APP?.refusal?.(app, cloud)).toContain(why);
        put(
          role,
          'authorization:RoleAssignment',
          { principalId: 'p', roleDefinitionId: `/roleDefinitions/${role}` },
          {},
        );
      }
      expect(APP?.refusal?.(app, cloud)).toBeUndefined();
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
