/** What the pattern refuses at preview: all that its parts would refuse of it, before any of them is made. */

import * as pulumi from '@pulumi/pulumi';
import { wrongCheckpointStore } from './checkpoint-store/checkpoint-checks';
import type { CheckpointStore } from './checkpoint-store/checkpoint-store';
import { wrongConsumer } from './consumer/consumer-checks';
import { wrongLedger } from './consumer/one-consumer-group';
import type { BillingEventHub } from './event-hub/billing-event-hub';
import { eventHubPlan, wrongEventHub } from './event-hub/event-hub-checks';
import type { CheckpointSettings, EventHubsBillingArgs } from './event-hubs-billing-args';
import { wrongLedgerDatabase } from './ledger/ledger-checks';
import type { LedgerDatabase } from './ledger/ledger-database';
import { wrongMonitoring } from './monitoring/monitoring-checks';
import { unknownArgs, wrongSettingsOf } from './shared/known-args';
import { wrongCommon } from './shared/needed-args';
import { found, refuseWrongArgs, shown, type WrongArg } from './shared/wrong-args';

/** All that it reads. */
const ARGS = {
  resourceGroupName: true,
  tags: true,
  image: true,
  registry: true,
  stripeKeySecretUri: true,
  keyVaultId: true,
  stripeKey: true,
  spendCap: true,
  stripeMode: true,
  stripeMaxRps: true,
  minReplicas: true,
  maxReplicas: true,
  cpu: true,
  memory: true,
  migrations: true,
  environment: true,
  alertEmails: true,
  actionGroupIds: true,
  eventHub: true,
  checkpointStore: true,
  ledger: true,
  network: true,
  workspaceId: true,
  protect: true,
} as const satisfies Record<keyof EventHubsBillingArgs, true>;

/** Where the arguments of its parts belong. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  ...inPart('checkpointStore', ['accountName', 'containerName', 'allowedSubnetIds', 'existingAccount']),
  ...inPart('ledger', [
    'version',
    'skuName',
    'storageSizeGB',
    'highAvailability',
    'backupRetentionDays',
    'databaseName',
    'existing',
  ]),
  ...inPart('eventHub', [
    'namespaceName',
    'sku',
    'capacity',
    'maximumThroughputUnits',
    'eventHubName',
    'partitionCount',
    'retentionHours',
    'consumerGroupName',
    'capture',
  ]),
};

function inPart(part: string, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, `${part}: { ${name}: … }`]));
}

/** What the consumer's checks know of a hub. */
type Hub = Pick<BillingEventHub, 'partitionCount' | 'retentionHours' | 'consumerGroupName'>;

/** @throws all that is wrong with the pattern and with each part that it would make, in one error */
export function checkBilling(name: string, given: EventHubsBillingArgs): void {
  const args = withoutText(given);
  const wrongHub = isPart<BillingEventHub>(args.eventHub) ? [] : wrongEventHub(`${name}-hub`, { ...args.eventHub });
  const hub: Hub = isPart<BillingEventHub>(args.eventHub)
    ? args.eventHub
    : eventHubPlan(`${name}-hub`, { ...args.eventHub });
  const isWrong = (prop: keyof Hub) => wrongHub.some((each) => each.prop === prop);
  refuseWrongArgs('EventHubsBilling', name, [
    ...wrongCommon(args),
    ...unknownArgs(args, ARGS, ELSEWHERE),
    wrongSettingsOf('eventHub', given?.eventHub, 'BillingEventHub'),
    wrongSettingsOf('checkpointStore', given?.checkpointStore, 'CheckpointStore'),
    wrongSettingsOf('ledger', given?.ledger, 'LedgerDatabase'),
    wrongName(name),
    ...under('eventHub', wrongHub),
    ...wrongStore(args, isWrong('consumerGroupName') ? undefined : hub.consumerGroupName),
    ...wrongLedgerPart(name, args),
    ...wrongConsumer(`${name}-consumer`, args, isWrong('partitionCount') ? undefined : hub.partitionCount).filter(
      isOwn,
    ),
    ...wrongMonitoring({
      ...(args.alertEmails === undefined ? {} : { alertEmails: args.alertEmails }),
      ...(args.actionGroupIds === undefined ? {} : { actionGroupIds: args.actionGroupIds }),
    }),
  ]);
}

/** Its consumer's name is the shortest of its parts', `<name>-consumer` with 40 characters: what is left is its own. */
function wrongName(name: string): WrongArg | undefined {
  if (/^(?!rds)[A-Za-z][A-Za-z0-9-]{0,30}$/i.test(name)) return undefined;
  const allowed = 'a letter, then up to 30 letters, digits and hyphens, and not rds first';
  const wayOut = 'Names of Azure’s resources and of a role in PostgreSQL begin with it.';
  return { prop: 'name', received: shown(name), allowed, wayOut };
}

/** What a part says of its own name is said of the pattern's. */
function isOwn({ prop }: WrongArg): boolean {
  return prop !== 'name';
}

/** The arguments without what stands where a part or its settings belong and is neither. */
function withoutText(given: EventHubsBillingArgs): EventHubsBillingArgs {
  const parts = ['eventHub', 'checkpointStore', 'ledger'];
  const kept = ([prop, value]: [string, unknown]) =>
    !parts.includes(prop) || wrongSettingsOf(prop, value, prop) === undefined;
  return Object.fromEntries(Object.entries({ ...given }).filter(kept)) as unknown as EventHubsBillingArgs;
}

/** The group names the container of its checkpoints, unless that is said. */
export function groupFor(
  settings: CheckpointSettings | undefined,
  consumerGroupName: string | undefined,
): { readonly consumerGroupName?: string } {
  return settings?.containerName !== undefined || consumerGroupName === undefined ? {} : { consumerGroupName };
}

function wrongStore({ checkpointStore }: EventHubsBillingArgs, group: string | undefined): WrongArg[] {
  if (isPart<CheckpointStore>(checkpointStore)) return [];
  return under('checkpointStore', wrongCheckpointStore({ ...checkpointStore, ...groupFor(checkpointStore, group) }));
}

function wrongLedgerPart(name: string, { eventHub, ledger, network }: EventHubsBillingArgs): WrongArg[] {
  if (!isPart<LedgerDatabase>(ledger)) {
    const place = network === undefined ? {} : { network };
    return [
      ...under('ledger', wrongLedgerDatabase(`${name}-ledger`, { ...ledger, ...place }).filter(isOwn)),
      ...found([ledger?.existing === undefined ? wrongNetwork(network) : undefined]),
    ];
  }
  return found([
    network === undefined ? undefined : { ...BESIDE, prop: 'network', received: 'a network beside a ledger' },
    ledger.server !== undefined && ledger.environmentSubnetId === undefined ? UNREACHED : undefined,
    isPart<BillingEventHub>(eventHub) ? wrongLedger({ eventHub, ledger }) : undefined,
  ]);
}

const BESIDE = { allowed: 'one of the two', wayOut: 'A ledger that is made elsewhere is in its network already.' };

/** Workers run where the ledger is, so that somebody has to say in which subnet. */
const UNREACHED: WrongArg = {
  prop: 'ledger',
  received: 'one whose network has no environmentSubnetId',
  allowed: 'a LedgerDatabase with network.environmentSubnetId, a subnet delegated to Microsoft.App/environments',
  wayOut: 'The ledger is reached from its network only, and the workers have no place there.',
};

function wrongNetwork(network: EventHubsBillingArgs['network']): WrongArg | undefined {
  if (network === undefined || network.environmentSubnetId !== undefined) return undefined;
  return {
    prop: 'network.environmentSubnetId',
    received: 'not given',
    allowed: 'the id of a subnet delegated to Microsoft.App/environments, /27 or larger',
    wayOut: 'The workers run there: the ledger is reached from its network only.',
  };
}

/** What a part says of its arguments, by the names that they have here. */
function under(part: string, wrong: readonly WrongArg[]): WrongArg[] {
  // Its network is said beside the ledger.
  return wrong.map((each) => (AS_THEY_ARE.includes(each.prop) ? each : { ...each, prop: `${part}.${each.prop}` }));
}

const AS_THEY_ARE = ['network'];

function isPart<Part extends pulumi.ComponentResource>(given: unknown): given is Part {
  return pulumi.ComponentResource.isInstance(given);
}
