/** How a policy knows what it looks at: by the resource's type and by the component that made it. */

/** The types that the policies look at, by module and resource, as `azure-native` names them. */
export const AZURE_TYPES = {
  eventHubNamespace: ['eventhub', 'Namespace'],
  eventHub: ['eventhub', 'EventHub'],
  serviceBusNamespace: ['servicebus', 'Namespace'],
  queue: ['servicebus', 'Queue'],
  storageAccount: ['storage', 'StorageAccount'],
  blobService: ['storage', 'BlobServiceProperties'],
  container: ['storage', 'BlobContainer'],
  databaseServer: ['dbforpostgresql', 'Server'],
  database: ['dbforpostgresql', 'Database'],
  roleAssignment: ['authorization', 'RoleAssignment'],
} as const;
export type AzureType = keyof typeof AZURE_TYPES;

/** Of any API version: as a local package (`azure-native_servicebus_v20240101:servicebus:Queue`) or an older SDK writes it. */
export function isAzureType(token: string, type: AzureType): boolean {
  const [module, resource] = AZURE_TYPES[type];
  return new RegExp(`^azure-native(_\\w+)?:${module}(/v\\w+)?:${resource}$`).test(token);
}

/** Components of this package, as they stand in the URN of everything below them. */
export type ComponentName = 'BillingEventHub' | 'CheckpointStore' | 'LedgerDatabase' | 'BillingConsumer';

const OURS = 'chargeonce:azure:';

/** The types of all parents, outermost first, and of the resource itself: `a$b$c` of `urn:pulumi:stack::project::a$b$c::name`. */
const typesOf = (urn: string): string[] => (urn.split('::')[2] ?? '').split('$');

/** Whether a component of this package made it; any, when none is named. */
export function isPartOf(urn: string, component?: ComponentName): boolean {
  return typesOf(urn)
    .slice(0, -1)
    .some((type) => (component === undefined ? type.startsWith(OURS) : type === `${OURS}${component}`));
}
