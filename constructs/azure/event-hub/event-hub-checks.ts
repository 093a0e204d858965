import type * as pulumi from '@pulumi/pulumi';
import { MIN_RETENTION_HOURS } from '../../../runtime/contract';
import { EVENT_HUB_NAME } from '../../../runtime/contract/event-hub-names';
import { unknownArgs } from '../shared/known-args';
import { wrongCommon, wrongWhenMissing } from '../shared/needed-args';
import { found, refuseWrongArgs, shown, type WrongArg, wrongCount } from '../shared/wrong-args';
import type { BillingEventHubArgs } from './billing-event-hub-args';
import { parseContainerId } from './capture';
import {
  DEFAULT_CONSUMER_GROUP,
  type EventHubSku,
  PREMIUM_UNITS,
  TIER_LIMITS,
  type TierLimits,
} from './event-hub-limits';

/** All that it reads. */
const ARGS = {
  resourceGroupName: true,
  tags: true,
  namespaceName: true,
  sku: true,
  capacity: true,
  maximumThroughputUnits: true,
  eventHubName: true,
  partitionCount: true,
  retentionHours: true,
  consumerGroupName: true,
  capture: true,
  workspaceId: true,
  protect: true,
} as const satisfies Record<keyof BillingEventHubArgs, true>;

const GROUP_NAME = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,48}[A-Za-z0-9])?$/;

/** What the arguments come to. */
export interface EventHubPlan {
  readonly sku: EventHubSku;
  readonly capacity: number;
  readonly maximumThroughputUnits: number;
  readonly eventHubName: string;
  readonly partitionCount: number;
  readonly retentionHours: number;
  readonly consumerGroupName: string;
}

/** @throws when Event Hubs would refuse a value in the middle of a deploy, or when events could be lost with it */
export function planEventHub(name: string, args: BillingEventHubArgs): EventHubPlan {
  refuseWrongArgs('BillingEventHub', name, [...wrongCommon(args), ...wrongEventHub(name, { ...args })]);
  return eventHubPlan(name, args);
}

/** What the arguments come to, right or wrong. */
export function eventHubPlan(name: string, args: Partial<BillingEventHubArgs>): EventHubPlan {
  const sku = args.sku ?? 'Standard';
  const capacity = args.capacity ?? 1;
  return {
    sku,
    capacity,
    maximumThroughputUnits: args.maximumThroughputUnits ?? (sku === 'Standard' ? Math.max(4, capacity) : capacity),
    eventHubName: args.eventHubName ?? name,
    partitionCount: args.partitionCount ?? 4,
    retentionHours: args.retentionHours ?? 168,
    consumerGroupName: args.consumerGroupName ?? 'chargeonce',
  };
}

/** All that is wrong with the arguments of a hub. */
export function wrongEventHub(name: string, args: Partial<BillingEventHubArgs>): WrongArg[] {
  const plan = eventHubPlan(name, args);
  const { sku } = plan;
  // Plain JavaScript may name any tier.
  const limits: TierLimits | undefined = Object.hasOwn(TIER_LIMITS, sku) ? TIER_LIMITS[sku] : undefined;
  return found([
    ...unknownArgs(args, ARGS),
    wrongSku(args.sku, args.namespaceName !== undefined),
    ...(limits === undefined ? [] : [...wrongHub(plan, limits), ...wrongUnits(args, plan, limits)]),
    wrongName(args.eventHubName === undefined ? 'eventHubName (the component’s name)' : 'eventHubName', plan),
    wrongGroup(plan.consumerGroupName),
    args.capture === undefined ? undefined : wrongCapture(args.capture.containerId),
  ]);
}

/** Also for the tier that Azure names of an existing namespace. */
export function wrongSku(sku: string | undefined, existing: boolean): WrongArg | undefined {
  const allowed = existing ? 'Standard, Premium, Dedicated' : 'Standard, Premium';
  if (sku === undefined || sku === 'Standard' || sku === 'Premium' || (sku === 'Dedicated' && existing)) {
    return undefined;
  }
  const tiers = Object.keys(TIER_LIMITS);
  const spelt = tiers.find((tier) => tier.toLowerCase() === String(sku).toLowerCase() && tier !== sku);
  if (spelt !== undefined) return { prop: 'sku', received: shown(sku), allowed, wayOut: `It is spelt ${spelt}.` };
  const wayOut =
    sku === 'Basic'
      ? 'Basic keeps events for one day and has no consumer group but $Default, so an outage of a weekend would lose events. Leave it out for Standard.'
      : 'Give the namespaceName of one that exists in a Dedicated cluster, or leave it out for Standard.';
  return { prop: 'sku', received: shown(sku), allowed, wayOut };
}

function wrongHub({ sku, partitionCount, retentionHours }: EventHubPlan, limits: TierLimits): (WrongArg | undefined)[] {
  const short = retentionHours < MIN_RETENTION_HOURS;
  return [
    wrongCount('partitionCount', partitionCount, {
      min: 1,
      max: limits.partitions,
      wayOut: `A hub of a ${sku} namespace has no more, and no fewer than one. Leave it out for 4.`,
    }),
    wrongCount('retentionHours', retentionHours, {
      min: MIN_RETENTION_HOURS,
      max: limits.retentionHours,
      unit: ' h',
      wayOut: short
        ? 'Stripe may forget an idempotency key after 24 h, so a shorter retention would lose events before an outage is repaired. Leave it out for 168.'
        : `A ${sku} namespace keeps events no longer. Leave it out for 168, or give capture { containerId } to keep them for ever.`,
    }),
  ];
}

function wrongUnits(
  args: Partial<BillingEventHubArgs>,
  plan: EventHubPlan,
  limits: TierLimits,
): (WrongArg | undefined)[] {
  const { sku, capacity, maximumThroughputUnits } = plan;
  const given = args.capacity !== undefined ? 'capacity' : 'maximumThroughputUnits';
  if (args.namespaceName !== undefined) {
    if (args.capacity === undefined && args.maximumThroughputUnits === undefined) return [];
    const received = shown(args[given]);
    const wayOut = 'Change the namespace where it is made.';
    return [{ prop: given, received, allowed: 'none beside an existing namespaceName', wayOut }];
  }
  const max = limits.capacity;
  const wrongCapacity =
    sku === 'Premium'
      ? wrongPremium(capacity)
      : wrongCount('capacity', capacity, { min: 1, max, wayOut: `${sku} has no more units.` });
  if (sku === 'Standard') {
    const wayOut = 'It is what the namespace grows to from its capacity. Give the capacity itself for no growth.';
    return [
      wrongCapacity ?? wrongCount('maximumThroughputUnits', maximumThroughputUnits, { min: capacity, max, wayOut }),
    ];
  }
  if (args.maximumThroughputUnits === undefined) return [wrongCapacity];
  const received = shown(maximumThroughputUnits);
  const wayOut = `A ${sku} namespace does not grow by itself: raise its capacity.`;
  return [wrongCapacity, { prop: 'maximumThroughputUnits', received, allowed: 'none unless sku is Standard', wayOut }];
}

function wrongPremium(capacity: number): WrongArg | undefined {
  if (PREMIUM_UNITS.includes(capacity)) return undefined;
  const wayOut = 'Premium is sold in these sizes only. Leave it out for 1.';
  return { prop: 'capacity', received: shown(capacity), allowed: PREMIUM_UNITS.join(', '), wayOut };
}

function wrongName(prop: string, { eventHubName }: EventHubPlan): WrongArg | undefined {
  if (typeof eventHubName === 'string' && EVENT_HUB_NAME.test(eventHubName)) return undefined;
  const allowed = 'up to 256 letters, digits, ".", "-" and "_", the first and last a letter or digit';
  return { prop, received: shown(eventHubName), allowed, wayOut: 'Give an eventHubName that Event Hubs takes.' };
}

function wrongGroup(group: string): WrongArg | undefined {
  if (group === DEFAULT_CONSUMER_GROUP || (typeof group === 'string' && GROUP_NAME.test(group))) return undefined;
  const allowed = 'up to 50 letters, digits, ".", "-" and "_", the first and last a letter or digit, or $Default';
  const wayOut = 'Leave it out for chargeonce.';
  return { prop: 'consumerGroupName', received: shown(group), allowed, wayOut };
}

function wrongCapture(containerId: pulumi.Input<string>): WrongArg | undefined {
  const prop = 'capture.containerId';
  const allowed =
    '/subscriptions/…/resourceGroups/…/providers/Microsoft.Storage/storageAccounts/…/blobServices/default/containers/…';
  const wayOut = 'Give the id of the container itself, not of its account: the container’s `id` in a program.';
  const missing = wrongWhenMissing(prop, containerId, allowed, wayOut);
  if (missing !== undefined || typeof containerId !== 'string') return missing;
  return parseContainerId(containerId) === undefined
    ? { prop, received: shown(containerId), allowed, wayOut }
    : undefined;
}
