/** Who reads one consumer group has one ledger and one checkpoint store in common. */
import type { WrongArg } from '../shared/wrong-args';
import type { BillingConsumerArgs } from './billing-consumer-args';

type Parts = Pick<BillingConsumerArgs, 'eventHub' | 'ledger' | 'checkpointStore'>;

const known = new WeakMap<Parts['eventHub'], Parts>();

const SAME_GROUP = 'Both read the same consumer group, so partitions move between them, and';

/** What is wrong when another consumer of the program charges the same hub's events into another ledger. */
export function wrongLedger({ eventHub, ledger }: Pick<Parts, 'eventHub' | 'ledger'>): WrongArg | undefined {
  if ((known.get(eventHub)?.ledger ?? ledger) === ledger) return undefined;
  return {
    prop: 'ledger',
    received: 'another one than that of a consumer of the same eventHub',
    allowed: 'the same ledger',
    wayOut: `${SAME_GROUP} what was charged in one ledger would be charged again in the other. Give them one ledger, or a hub each.`,
  };
}

/** What is wrong when another consumer of the program shares the same hub's partitions by another store. */
export function wrongStore({ eventHub, checkpointStore }: Parts): WrongArg | undefined {
  if ((known.get(eventHub)?.checkpointStore ?? checkpointStore) === checkpointStore) return undefined;
  return {
    prop: 'checkpointStore',
    received: 'another one than that of a consumer of the same eventHub',
    allowed: 'the same store',
    wayOut: `${SAME_GROUP} neither would see who owns them: each would take them from the other for ever. Give them one store, or a hub each.`,
  };
}

/** Remembers the parts of a consumer whose arguments are right. */
export function remember({ eventHub, ledger, checkpointStore }: Parts): void {
  known.set(eventHub, { eventHub, ledger, checkpointStore });
}
