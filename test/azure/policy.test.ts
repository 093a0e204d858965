/** Each policy lets what is right pass, and names what is wrong. */
import type { ResourceValidationArgs, ResourceValidationPolicy } from '@pulumi/policy';
import { describe, expect, it } from 'vitest';
import { POLICIES } from '../../constructs/azure/policy';
import { AZURE_TYPES, type AzureType } from '../../constructs/azure/policy/azure-types';
import type { Registered } from './mocks';
import { watch } from './monitored';

interface Shape {
  readonly type: AzureType;
  readonly props?: Record<string, unknown>;
  /** The components above it. */
  readonly below?: string;
  readonly protect?: boolean;
}

const policy = (name: string) => POLICIES.find((each) => each.name === name)!;

/** What a policy says of a resource. */
function said({ validateResource }: ResourceValidationPolicy, type: string, rest: Partial<ResourceValidationArgs>) {
  const found: string[] = [];
  const validate = validateResource as (args: ResourceValidationArgs, report: (text: string) => void) => void;
  validate({ type, ...rest } as ResourceValidationArgs, (text) => found.push(text));
  return found;
}

function saidOf(name: string, { type, props = {}, below, protect = true }: Shape): string[] {
  const token = `azure-native:${AZURE_TYPES[type].join(':')}`;
  const urn = `urn:pulumi:dev::billing::${below === undefined ? '' : `${below}$`}${token}::it`;
  return said(policy(name), token, { props, urn, name: 'it', opts: { protect } as ResourceValidationArgs['opts'] });
}

const STORE = 'chargeonce:azure:EventHubsBilling$chargeonce:azure:CheckpointStore';
const OFF = { enabled: false };
const BLOBS = { isVersioningEnabled: false, deleteRetentionPolicy: OFF, containerDeleteRetentionPolicy: OFF };

type Case = readonly [policy: string, right: Shape, wrong: Shape, says: string];

const CASES: readonly Case[] = [
  [
    'queue-detects-duplicates',
    { type: 'queue', props: { requiresDuplicateDetection: true } },
    { type: 'queue', props: { requiresDuplicateDetection: false } },
    'requiresDuplicateDetection is false',
  ],
  ['queue-detects-duplicates', { type: 'container' }, { type: 'queue' }, 'requiresDuplicateDetection is not given'],
  [
    'namespace-without-shared-keys',
    { type: 'eventHubNamespace', props: { disableLocalAuth: true } },
    { type: 'eventHubNamespace', props: { disableLocalAuth: false } },
    'disableLocalAuth is false',
  ],
  [
    'namespace-without-shared-keys',
    { type: 'serviceBusNamespace', props: { disableLocalAuth: true } },
    { type: 'serviceBusNamespace' },
    'disableLocalAuth is not given',
  ],
  [
    'tls-1-2',
    { type: 'storageAccount', props: { minimumTlsVersion: 'TLS1_2' } },
    { type: 'storageAccount', props: { minimumTlsVersion: 'TLS1_0' } },
    'minimumTlsVersion is TLS1_0',
  ],
  [
    'tls-1-2',
    { type: 'eventHubNamespace', props: { minimumTlsVersion: '1.2' } },
    { type: 'serviceBusNamespace', props: { minimumTlsVersion: '1.1' } },
    'minimumTlsVersion is 1.1',
  ],
  ['tls-1-2', { type: 'queue' }, { type: 'storageAccount' }, 'minimumTlsVersion is not given'],
  [
    'checkpoint-blobs-keep-nothing',
    { type: 'blobService', props: BLOBS, below: STORE },
    { type: 'blobService', props: { ...BLOBS, isVersioningEnabled: true }, below: STORE },
    'isVersioningEnabled',
  ],
  [
    'checkpoint-blobs-keep-nothing',
    { type: 'blobService', props: { ...BLOBS, isVersioningEnabled: true } },
    { type: 'blobService', props: { ...BLOBS, deleteRetentionPolicy: { enabled: true, days: 7 } }, below: STORE },
    'deleteRetentionPolicy',
  ],
  [
    'checkpoint-account-without-shared-keys',
    { type: 'storageAccount', props: { allowSharedKeyAccess: false, allowBlobPublicAccess: false }, below: STORE },
    { type: 'storageAccount', props: { allowSharedKeyAccess: true, allowBlobPublicAccess: false }, below: STORE },
    'allowSharedKeyAccess is true',
  ],
  [
    'checkpoint-account-without-shared-keys',
    { type: 'storageAccount' },
    { type: 'storageAccount', props: { allowSharedKeyAccess: false }, below: STORE },
    'allowBlobPublicAccess is not given',
  ],
  [
    'stateful-parts-are-protected',
    { type: 'databaseServer', below: 'chargeonce:azure:LedgerDatabase' },
    { type: 'databaseServer', below: 'chargeonce:azure:LedgerDatabase', protect: false },
    'protect is off',
  ],
  [
    'stateful-parts-are-protected',
    { type: 'databaseServer', below: 'contoso:web:Shop', protect: false },
    { type: 'eventHub', below: 'chargeonce:azure:BillingEventHub', protect: false },
    'protect is off',
  ],
  [
    'role-assignments-say-whose',
    { type: 'roleAssignment', props: { principalType: 'ServicePrincipal' }, below: STORE },
    { type: 'roleAssignment', props: { principalType: 'User' }, below: STORE },
    'principalType is User',
  ],
  [
    'role-assignments-say-whose',
    { type: 'roleAssignment', props: { principalType: 'User' } },
    { type: 'roleAssignment' },
    'principalType is not given',
  ],
];

describe.each(CASES)('%s', (name, right, wrong, says) => {
  it('lets what is right pass', () => {
    expect(saidOf(name, right)).toEqual([]);
  });

  it(`says: ${says}`, () => {
    const found = saidOf(name, wrong);
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(says);
    expect(found[0]).toContain(policy(name).remediationSteps!);
  });
});

describe('the pack', () => {
  it('has a case here for each policy, all mandatory, with a name that stays', () => {
    expect(POLICIES.map(({ name }) => name).sort()).toEqual([...new Set(CASES.map(([name]) => name))].sort());
    expect(new Set(POLICIES.map(({ enforcementLevel }) => enforcementLevel))).toEqual(new Set(['mandatory']));
  });

  it('knows a type in every API version', () => {
    const urn = 'urn:pulumi:dev::billing::x::it';
    for (const token of [
      'azure-native_servicebus_v20240101:servicebus:Queue',
      'azure-native:servicebus/v20221001preview:Queue',
    ]) {
      expect(
        said(policy('queue-detects-duplicates'), token, { props: {}, urn, opts: { protect: true } as never }),
      ).toHaveLength(1);
    }
    const other = 'aws:servicebus:Queue';
    expect(
      said(policy('queue-detects-duplicates'), other, { props: {}, urn, opts: { protect: true } as never }),
    ).toEqual([]);
  });

  it('has nothing against what the components make, but for a stack of tests', async () => {
    const run = await watch();
    expect(run.resources.length).toBeGreaterThan(40);
    expect(complaints(run.resources)).toEqual([]);
  });

  it('would see a component that leaves something out', async () => {
    const { resources } = await watch();
    const bare = resources.map((each) => ({ ...each, inputs: {}, protect: false }));
    const complained = new Set(complaints(bare).map((text) => text.split(':')[0]));
    expect([...complained].sort()).toEqual([
      'checkpoint-account-without-shared-keys',
      'namespace-without-shared-keys',
      'role-assignments-say-whose',
      'stateful-parts-are-protected',
      'tls-1-2',
    ]);
  });
});

/** What all policies say of these resources. */
function complaints(resources: readonly Registered[]): string[] {
  return POLICIES.flatMap((each) =>
    resources.flatMap(({ type, inputs, urn, name, protect }) =>
      said(each, type, { props: inputs, urn, name, opts: { protect: protect ?? false } as never }).map(
        (text) => `${each.name}: ${name}: ${text}`,
      ),
    ),
  );
}
