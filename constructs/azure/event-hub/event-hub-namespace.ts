import * as eventhub from '@pulumi/azure-native/eventhub';
import * as pulumi from '@pulumi/pulumi';
import { globalName } from '../shared/global-name';
import { keep } from '../shared/stateful';
import { refuseWrongArgs, shown, type WrongArg } from '../shared/wrong-args';
import type { BillingEventHubArgs } from './billing-event-hub-args';
import { type EventHubPlan, wrongSku } from './event-hub-checks';
import type { EventHubSku } from './event-hub-limits';

/** A namespace, made here or elsewhere. */
export interface NamespaceParts {
  readonly namespace: eventhub.Namespace | undefined;
  readonly name: pulumi.Output<string>;
  readonly id: pulumi.Output<string>;
  readonly fullyQualifiedName: pulumi.Output<string>;
  /** Who Capture writes as, when the namespace has an identity of its own. */
  readonly principalId: pulumi.Output<string | undefined>;
}

const PUBLIC_DOMAIN = 'servicebus.windows.net';
const NAME_RULES = { maxLength: 50, hyphens: true };
/** Azure changes these by itself; a refresh would otherwise end in an update each time. */
const SERVICE_MANAGED = ['privateEndpointConnections', 'zoneRedundant'];
/** No namespace changes its tier: a preview must show that as the replacement it would be, which is then refused. */
const CREATE_ONLY = ['sku.name', 'sku.tier'];

export function ownNamespace(
  parent: pulumi.Resource,
  name: string,
  args: BillingEventHubArgs,
  plan: EventHubPlan,
): NamespaceParts {
  const { sku, capacity, maximumThroughputUnits } = plan;
  const grows = sku === 'Standard' && maximumThroughputUnits > capacity;
  const namespace = new eventhub.Namespace(
    `${name}-namespace`,
    {
      resourceGroupName: args.resourceGroupName,
      namespaceName: globalName(parent, 'namespace', name, args.resourceGroupName, NAME_RULES),
      sku: {
        name: sku === 'Premium' ? eventhub.SkuName.Premium : eventhub.SkuName.Standard,
        tier: sku === 'Premium' ? eventhub.SkuTier.Premium : eventhub.SkuTier.Standard,
        capacity,
      },
      ...(grows ? { isAutoInflateEnabled: true, maximumThroughputUnits } : {}),
      ...(args.capture ? { identity: { type: eventhub.ManagedServiceIdentityType.SystemAssigned } } : {}),
      disableLocalAuth: true,
      minimumTlsVersion: eventhub.TlsVersion.TlsVersion_1_2,
      ...(args.tags === undefined ? {} : { tags: args.tags }),
    },
    {
      parent,
      ...keep(args.protect ?? true),
      // A namespace that grows by itself must not be shrunk by the next deploy.
      ignoreChanges: [...SERVICE_MANAGED, ...(grows ? ['sku.capacity'] : [])],
      replaceOnChanges: CREATE_ONLY,
    },
  );
  return {
    namespace,
    name: namespace.name,
    id: namespace.id,
    fullyQualifiedName: hostOf(namespace.name, namespace.serviceBusEndpoint),
    principalId: namespace.identity.apply((identity) => identity?.principalId),
  };
}

const WITHOUT_IDENTITY: WrongArg = {
  prop: 'capture',
  received: 'a container, for a namespace without an identity of its own',
  allowed: 'a namespace with a system-assigned identity',
  wayOut: 'Capture writes to the container as the namespace: give it an identity where it is made.',
};

export function existingNamespace(
  parent: pulumi.Resource,
  name: string,
  namespaceName: pulumi.Input<string>,
  args: BillingEventHubArgs,
): NamespaceParts {
  const found = eventhub
    .getNamespaceOutput({ resourceGroupName: args.resourceGroupName, namespaceName }, { parent })
    .apply((each) => {
      refuseWrongArgs('BillingEventHub', name, [
        wrongTier(args.sku, each.clusterArmId === undefined ? each.sku?.name : 'Dedicated'),
        args.capture && each.identity?.principalId === undefined ? WITHOUT_IDENTITY : undefined,
      ]);
      return each;
    });
  // Azure always says the name; the mocks of a unit test seldom do.
  const space = pulumi
    .all([namespaceName, found])
    .apply(([given, { name: said }]) => (said as string | undefined) ?? given);
  return {
    namespace: undefined,
    name: space,
    id: found.id,
    fullyQualifiedName: hostOf(space, found.serviceBusEndpoint),
    principalId: found.apply(({ identity }) => identity?.principalId),
  };
}

/** Limits are checked before anything is looked up, so the tier that was said has to be the namespace's. */
function wrongTier(said: EventHubSku | undefined, tier: string | undefined): WrongArg | undefined {
  if (tier === 'Basic') return wrongSku('Basic', true);
  if (said === undefined || tier === undefined || said === tier) return undefined;
  return {
    prop: 'sku',
    received: `${shown(said)} for a namespace whose tier is ${shown(tier)}`,
    allowed: shown(tier),
    wayOut: 'Say the tier that the namespace has: it decides how many partitions and days there are.',
  };
}

/** The host of `https://<host>:443/`: its domain differs between Azure's clouds. */
function hostOf(name: pulumi.Output<string>, endpoint: pulumi.Output<string | undefined>): pulumi.Output<string> {
  // Azure always says where; the mocks of a unit test seldom do.
  return pulumi.all([name, endpoint]).apply(([space, at]) => (at ? new URL(at).hostname : `${space}.${PUBLIC_DOMAIN}`));
}
