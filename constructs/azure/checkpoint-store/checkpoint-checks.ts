import { unknownArgs } from '../shared/known-args';
import { wrongCommon, wrongWhenMissing } from '../shared/needed-args';
import { found, refuseWrongArgs, shown, type WrongArg } from '../shared/wrong-args';
import type { CheckpointSku, CheckpointStoreArgs } from './checkpoint-store-args';
import { containerNameOf, isContainerName } from './container-name';

/** All that it reads. */
const ARGS = {
  resourceGroupName: true,
  tags: true,
  accountName: true,
  sku: true,
  consumerGroupName: true,
  containerName: true,
  allowedSubnetIds: true,
  existingAccount: true,
  protect: true,
} as const satisfies Record<keyof CheckpointStoreArgs, true>;

const ACCOUNT_NAME = /^[a-z0-9]{3,24}$/;
const SKUS: readonly CheckpointSku[] = ['Standard_ZRS', 'Standard_LRS', 'Premium_ZRS', 'Premium_LRS'];
const SUBNET_ID =
  /^\/subscriptions\/[^/]+\/resourceGroups\/[^/]+\/providers\/Microsoft\.Network\/virtualNetworks\/[^/]+\/subnets\/[^/]+$/i;

type StoreSettings = Partial<CheckpointStoreArgs>;

/** Why nothing else may be in the account, as Microsoft says it. */
const WHY_ALONE =
  'Microsoft asks for an account that is used for nothing else: other readers and writers take the requests a second that ' +
  'ownership and checkpoints need, and soft delete or versioning, which other data wants, makes each checkpoint leave a ' +
  'copy until listing them is too slow to keep a partition.';

/** @throws when Azure would refuse a name in the middle of a deploy, or when the account would be shared */
export function planContainer(name: string, args: CheckpointStoreArgs): string {
  refuseWrongArgs('CheckpointStore', name, [...wrongCommon(args), ...wrongCheckpointStore({ ...args })]);
  return nameOf(args);
}

function nameOf({ containerName, consumerGroupName }: StoreSettings): string {
  return containerName ?? containerNameOf(consumerGroupName ?? 'chargeonce');
}

/** All that is wrong with the arguments of a store. */
export function wrongCheckpointStore(args: StoreSettings): WrongArg[] {
  return found([
    ...unknownArgs(args, ARGS),
    wrongAccountName(args.accountName),
    wrongSku(args.sku),
    wrongContainer(nameOf(args)),
    args.containerName !== undefined && args.consumerGroupName !== undefined
      ? {
          prop: 'consumerGroupName',
          received: `${shown(args.consumerGroupName)} beside containerName ${shown(args.containerName)}`,
          allowed: 'one of the two',
          wayOut: 'The group is only what names the container: leave it out.',
        }
      : undefined,
    ...wrongSubnets(args.allowedSubnetIds),
    ...wrongExisting(args),
  ]);
}

function wrongAccountName(accountName: string | undefined): WrongArg | undefined {
  if (accountName === undefined || (typeof accountName === 'string' && ACCOUNT_NAME.test(accountName)))
    return undefined;
  return {
    prop: 'accountName',
    received: shown(accountName),
    allowed: '3 to 24 lower-case letters and digits',
    wayOut: 'Azure takes no other. Leave it out for a name that nobody else has.',
  };
}

function wrongSku(sku: CheckpointSku | undefined): WrongArg | undefined {
  if (sku === undefined || SKUS.includes(sku)) return undefined;
  const wayOut =
    'A copy in another region is of no use: after a failover an old checkpoint only replays. Leave it out.';
  return { prop: 'sku', received: shown(sku), allowed: SKUS.join(', '), wayOut };
}

function wrongContainer(containerName: string): WrongArg | undefined {
  if (typeof containerName === 'string' && isContainerName(containerName)) return undefined;
  return {
    prop: 'containerName',
    received: shown(containerName),
    allowed: '3 to 63 lower-case letters, digits and single hyphens, the first and last a letter or digit',
    wayOut: 'Leave it out for the consumer group’s name.',
  };
}

function wrongSubnets(ids: CheckpointStoreArgs['allowedSubnetIds']): WrongArg[] {
  if (ids === undefined) return [];
  const allowed = 'ids such as /subscriptions/…/virtualNetworks/…/subnets/…';
  if (ids.length === 0) {
    const wayOut = 'It would let nobody in. Leave it out, or give the subnet that the consumer runs in.';
    return [{ prop: 'allowedSubnetIds', received: 'an empty list', allowed, wayOut }];
  }
  const wrong = ids.filter((id) => typeof id === 'string' && !SUBNET_ID.test(id));
  return wrong.map((id) => ({
    prop: 'allowedSubnetIds',
    received: shown(id),
    allowed,
    wayOut: 'Give the id of the subnet itself: its `id` in a program.',
  }));
}

function wrongExisting({ existingAccount, ...others }: StoreSettings): (WrongArg | undefined)[] {
  if (existingAccount === undefined) return [];
  // Tags are said to every part of a pattern at once; here they have nothing to be on.
  const ours = (['accountName', 'sku', 'allowedSubnetIds'] as const).filter((each) => others[each] !== undefined);
  const said: unknown = existingAccount.nothingElseUsesIt;
  return [
    wrongWhenMissing(
      'existingAccount.accountName',
      existingAccount.accountName,
      'the name of a storage account',
      'The container is made in it.',
    ),
    ...ours.map((prop) => ({
      prop,
      received: Array.isArray(others[prop]) ? 'a list' : shown(others[prop]),
      allowed: 'none beside existingAccount',
      wayOut: 'Change the account where it is made.',
    })),
    said === true
      ? undefined
      : {
          prop: 'existingAccount.nothingElseUsesIt',
          received: shown(said),
          allowed: 'true',
          wayOut: `${WHY_ALONE} Leave existingAccount out for an account of its own, or say true when it is one.`,
        },
  ];
}
