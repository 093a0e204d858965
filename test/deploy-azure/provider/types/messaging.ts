/** Event Hubs: a namespace, its hubs, their consumer groups. Limits are those of the Standard tier. */
import type { Props } from '../../grpc';
import type { AzureTypes } from '../azure-type';
import { guid, TENANT } from '../ids';
import { at, between, matches, together } from '../rules';
import { text } from '../values';

const CLIENT = '@azure/arm-eventhub';

export const MESSAGING: AzureTypes = {
  'azure-native:eventhub:Namespace': {
    arm: 'Microsoft.EventHub/namespaces',
    names: ['namespaceName'],
    regional: true,
    replacedOn: ['location'],
    body: { client: CLIENT, mapper: 'EHNamespace' },
    rules: [
      matches('namespaceName', /^[A-Za-z][A-Za-z0-9-]{4,48}[A-Za-z0-9]$/, '6 to 50 letters, digits and hyphens'),
      between('sku.capacity', 1, 40),
      between('maximumThroughputUnits', 0, 40),
      together('maximumThroughputUnits', inflatesBelowItsCapacity),
    ],
    outputs: (props, id) => ({
      ...(props.identity === undefined
        ? {}
        : { identity: { ...(props.identity as Props), principalId: guid(`${id} principal`), tenantId: TENANT } }),
      serviceBusEndpoint: `https://${text(props.namespaceName)}.servicebus.windows.net:443/`,
      provisioningState: 'Succeeded',
      status: 'Active',
    }),
  },
  'azure-native:eventhub:EventHub': {
    arm: 'Microsoft.EventHub/namespaces/eventhubs',
    names: ['namespaceName', 'eventHubName'],
    createOnly: ['partitionCount'],
    body: { client: CLIENT, mapper: 'Eventhub' },
    rules: [
      between('partitionCount', 1, 32),
      between('retentionDescription.retentionTimeInHours', 1, 168),
      together('retentionDescription', (props) =>
        props.messageRetentionInDays !== undefined && props.retentionDescription !== undefined
          ? 'messageRetentionInDays and retentionDescription are both set; Azure takes one of them'
          : undefined,
      ),
    ],
    outputs: (props) => ({
      partitionIds: Array.from({ length: Number(props.partitionCount ?? 4) }, (_, index) => String(index)),
      status: 'Active',
    }),
  },
  'azure-native:eventhub:ConsumerGroup': {
    arm: 'Microsoft.EventHub/namespaces/eventhubs/consumergroups',
    names: ['namespaceName', 'eventHubName', 'consumerGroupName'],
    body: { client: CLIENT, mapper: 'ConsumerGroup' },
    rules: [matches('consumerGroupName', /^[A-Za-z0-9][A-Za-z0-9._-]{0,49}$/, 'a new group: $Default exists already')],
  },
};

function inflatesBelowItsCapacity(props: Readonly<Props>): string | undefined {
  const [inflate, most, capacity] = ['isAutoInflateEnabled', 'maximumThroughputUnits', 'sku.capacity'].map((path) =>
    at(props, path),
  );
  if (inflate === true) {
    return Number(most ?? 0) < Number(capacity ?? 1) ? 'maximumThroughputUnits is below sku.capacity' : undefined;
  }
  return Number(most ?? 0) > 0 ? 'maximumThroughputUnits needs isAutoInflateEnabled' : undefined;
}
