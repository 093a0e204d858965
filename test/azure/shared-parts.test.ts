import * as pulumi from '@pulumi/pulumi';
import { describe, expect, it } from 'vitest';
import { globalName } from '../../constructs/azure/shared/global-name';
import { nameUuid } from '../../constructs/azure/shared/name-uuid';
import { assignRole } from '../../constructs/azure/shared/role-assignment';
import { shown } from '../../constructs/azure/shared/wrong-args';
import { SUBSCRIPTION } from './mock-azure';
import { knownValue, runProgram } from './mocks';

const PRINCIPAL = '00000000-0000-4000-8000-00000000000a';
const HUB = '/subscriptions/s/resourceGroups/r/providers/Microsoft.EventHub/namespaces/n/eventhubs/h';

class Parent extends pulumi.ComponentResource {
  constructor() {
    super('test:index:Parent', 'parent');
  }
}

describe('nameUuid', () => {
  it('is a version 5 UUID, the same for the same words and another for others', () => {
    expect(nameUuid('a', 'bc')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    // Frozen: another algorithm would make every role assignment anew.
    expect(nameUuid('a', 'bc')).toBe('ce8aa5ba-185c-5ab2-969a-8e5470db25e8');
    expect(nameUuid('ab', 'c')).not.toBe(nameUuid('a', 'bc'));
  });
});

describe('assignRole', () => {
  const nameOf = async (scope: string, principalId: string, role: Parameters<typeof assignRole>[2]['role']) => {
    const run = await runProgram(() => void assignRole(new Parent(), 'grant', { scope, principalId, role }));
    return run.named('grant').inputs.roleAssignmentName;
  };

  it('names the assignment by what it says, so that a replacement never meets its predecessor', async () => {
    const one = await nameOf(HUB, PRINCIPAL, 'Azure Event Hubs Data Sender');
    expect(await nameOf(HUB.toUpperCase(), PRINCIPAL, 'Azure Event Hubs Data Sender')).toBe(one);
    const others = [
      await nameOf(`${HUB}2`, PRINCIPAL, 'Azure Event Hubs Data Sender'),
      await nameOf(HUB, PRINCIPAL.replace('a', 'b'), 'Azure Event Hubs Data Sender'),
      await nameOf(HUB, PRINCIPAL, 'Azure Event Hubs Data Receiver'),
    ];
    expect(new Set([one, ...others]).size).toBe(4);
  });

  it('has a name in a unit test too, whose mocks know no principal', async () => {
    const nobody = pulumi.output(undefined as unknown as string);
    const role = 'Azure Event Hubs Data Sender';
    const run = await runProgram(
      () => void assignRole(new Parent(), 'grant', { scope: HUB, principalId: nobody, role }),
    );
    expect(run.named('grant').inputs.roleAssignmentName).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('is known in a preview when both ends are, and waits for neither otherwise', async () => {
    const run = await runProgram(
      () => {
        const parent = new Parent();
        const role = 'Azure Event Hubs Data Sender';
        assignRole(parent, 'known', { scope: HUB, principalId: PRINCIPAL, role });
        const unknown = pulumi.output(pulumi.unknown as string);
        assignRole(parent, 'unknown', { scope: HUB, principalId: unknown, role });
      },
      { preview: true },
    );
    expect(run.named('known').inputs.roleAssignmentName).toMatch(/^[0-9a-f-]{36}$/);
    expect(run.named('unknown').inputs).toMatchObject({
      principalType: 'ServicePrincipal',
      roleDefinitionId: '/providers/Microsoft.Authorization/roleDefinitions/2b629674-e913-4c01-ae53-ef4638d8f975',
    });
  });
});

describe('globalName', () => {
  const spelled = async (
    name: string,
    rules: Parameters<typeof globalName>[4],
    group = 'rg',
    { subscriptionId = SUBSCRIPTION, ...program }: { subscriptionId?: string; project?: string; stack?: string } = {},
  ) => {
    const lookups = { 'azure-native:authorization:getClientConfig': () => ({ subscriptionId }) };
    const run = await runProgram(() => globalName(new Parent(), 'kind', name, group, rules), { lookups, ...program });
    return knownValue(run.result);
  };
  const DNS = { maxLength: 50, hyphens: true };
  const STORAGE = { maxLength: 24, hyphens: false };

  it.each([
    ['usage', DNS, /^usage-[0-9a-f]{8}$/],
    ['Usage Billing_2', DNS, /^usage-billing-2-[0-9a-f]{8}$/],
    ['Usage Billing_2', STORAGE, /^usagebilling2[0-9a-f]{8}$/],
    ['7-Ümläute', DNS, /^ml-ute-[0-9a-f]{8}$/],
    ['計費', DNS, /^billing-[0-9a-f]{8}$/],
    ['x'.repeat(80), DNS, /^x{41}-[0-9a-f]{8}$/],
    ['x'.repeat(80), STORAGE, /^x{16}[0-9a-f]{8}$/],
    [`${'x'.repeat(40)}-y`, DNS, /^x{40}-[0-9a-f]{8}$/],
  ])('spells %s as %j takes it', async (name, rules, pattern) => {
    expect(await spelled(name, rules)).toMatch(pattern);
  });

  it('is the same in every run, and another one elsewhere', async () => {
    const one = await spelled('usage', DNS);
    expect(await spelled('usage', DNS, 'RG')).toBe(one);
    expect(await spelled('usage', DNS, 'rg-2')).not.toBe(one);
    const subscriptionId = '99999999-2222-4333-8444-555555555555';
    expect(await spelled('usage', DNS, 'rg', { subscriptionId })).not.toBe(one);
  });

  it('is another one in another stack or project of the same resource group', async () => {
    const one = await spelled('usage', DNS);
    expect(await spelled('usage', DNS, 'rg', { stack: 'prod' })).not.toBe(one);
    expect(await spelled('usage', DNS, 'rg', { project: 'other' })).not.toBe(one);
  });
});

describe('shown', () => {
  it('says that a value is known at deploy only, not how Pulumi would print it', () => {
    expect(shown(pulumi.output(4))).toBe('an Output, which is known at deploy only');
  });
});
