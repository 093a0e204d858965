import { wrongBlobSettings } from '../checkpoint-store/blob-settings';
import { isPartOf } from './azure-types';
import type { Rule, Seen } from './resource-policy';

const given = (value: unknown): string => (value === undefined ? 'not given' : String(value));

const ofCheckpointStore = ({ urn }: Seen): boolean => isPartOf(urn, 'CheckpointStore');
const ofOurs = ({ urn }: Seen): boolean => isPartOf(urn);

/** TLS 1.2 and later, as storage accounts and as messaging namespaces write it. */
const TLS = ['TLS1_2', 'TLS1_3', '1.2', '1.3'];

export const RULES: readonly Rule[] = [
  {
    name: 'queue-detects-duplicates',
    displayName: 'Queues detect duplicates',
    description: 'Every Service Bus queue has duplicate detection, which can be switched on at creation only.',
    remediationSteps: 'Set requiresDuplicateDetection to true; a queue that exists without it has to be made anew.',
    types: ['queue'],
    find: ({ props }) =>
      props.requiresDuplicateDetection === true
        ? []
        : [
            `requiresDuplicateDetection is ${given(props.requiresDuplicateDetection)}: a producer's retry is a second message.`,
          ],
  },
  {
    name: 'namespace-without-shared-keys',
    displayName: 'Namespaces take no shared keys',
    description: 'Event Hubs and Service Bus namespaces accept identities of Microsoft Entra alone.',
    remediationSteps: 'Set disableLocalAuth to true and give clients roles.',
    types: ['eventHubNamespace', 'serviceBusNamespace'],
    find: ({ props }) =>
      props.disableLocalAuth === true
        ? []
        : [
            `disableLocalAuth is ${given(props.disableLocalAuth)}: whoever has a key may send bills, and keys do not expire.`,
          ],
  },
  {
    name: 'tls-1-2',
    displayName: 'TLS 1.2 at least',
    description: 'Namespaces and storage accounts say that they take TLS 1.2 and later.',
    remediationSteps: 'Set minimumTlsVersion: TLS1_2 of a storage account, 1.2 of a namespace.',
    types: ['eventHubNamespace', 'serviceBusNamespace', 'storageAccount'],
    find: ({ props }) =>
      TLS.includes(String(props.minimumTlsVersion))
        ? []
        : [`minimumTlsVersion is ${given(props.minimumTlsVersion)}: older versions of TLS are broken.`],
  },
  {
    name: 'checkpoint-blobs-keep-nothing',
    displayName: 'Checkpoint storage keeps no old versions',
    description:
      'The account of a CheckpointStore has versioning, soft delete, change feed and point-in-time restore off.',
    remediationSteps: 'Take it out of the transform or template that switches it on.',
    types: ['blobService'],
    when: ofCheckpointStore,
    find: ({ props }) => {
      const wrong = wrongBlobSettings(props, '');
      return wrong === undefined ? [] : [`${wrong.prop}: ${wrong.received}. ${wrong.wayOut.trim()}`];
    },
  },
  {
    name: 'checkpoint-account-without-shared-keys',
    displayName: 'Checkpoint storage takes no shared keys',
    description:
      'The account of a CheckpointStore accepts identities of Microsoft Entra alone, and nobody without one.',
    remediationSteps: 'Set allowSharedKeyAccess and allowBlobPublicAccess to false.',
    types: ['storageAccount'],
    when: ofCheckpointStore,
    find: ({ props }) =>
      ['allowSharedKeyAccess', 'allowBlobPublicAccess']
        .filter((prop) => props[prop] !== false)
        .map(
          (prop) => `${prop} is ${given(props[prop])}: whoever writes checkpoints decides which events are skipped.`,
        ),
  },
  {
    name: 'stateful-parts-are-protected',
    displayName: 'What holds money is protected',
    description:
      'Hub, checkpoints and ledger of this package are protected, so that the engine refuses to delete or replace them.',
    remediationSteps: 'Leave `protect` of the component as it is. For a stack of tests, set this policy to disabled.',
    types: ['eventHubNamespace', 'eventHub', 'queue', 'storageAccount', 'container', 'databaseServer', 'database'],
    when: ofOurs,
    find: ({ isProtected }) =>
      isProtected ? [] : ['protect is off: one changed name would delete it, with everything that is in it.'],
  },
  {
    name: 'role-assignments-say-whose',
    displayName: 'Role assignments say whose they are',
    description: 'Role assignments have a principal type; those of this package are for service principals.',
    remediationSteps: 'Set principalType to ServicePrincipal for a managed identity.',
    types: ['roleAssignment'],
    find: (seen) => {
      const type = seen.props.principalType;
      if (type !== undefined && (type === 'ServicePrincipal' || !ofOurs(seen))) return [];
      return [
        `principalType is ${given(type)}: Azure looks up an identity that was made seconds ago, and does not find it.`,
      ];
    },
  },
];
