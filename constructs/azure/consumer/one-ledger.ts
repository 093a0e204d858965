/** One consumer group charges into one ledger: a partition that moves between two would be charged once in each. */
import type { WrongArg } from '../shared/wrong-args';
import type { BillingConsumerArgs } from './billing-consumer-args';

type Parts = Pick<BillingConsumerArgs, 'eventHub' | 'ledger'>;

const ledgers = new WeakMap<Parts['eventHub'], Parts['ledger']>();

/** What is wrong when another consumer of the program charges the same hub's events into another ledger. */
export function wrongLedger({ eventHub, ledger }: Parts): WrongArg | undefined {
  if ((ledgers.get(eventHub) ?? ledger) === ledger) return undefined;
  return {
    prop: 'ledger',
    received: 'another one than that of a consumer of the same eventHub',
    allowed: 'the same ledger',
    wayOut:
      'Both read the same consumer group, so partitions move between them, and what was charged in one ledger would be ' +
      'charged again in the other. Give them one ledger, or a hub each.',
  };
}

/** Remembers it of a consumer whose arguments are right. */
export function chargeInto({ eventHub, ledger }: Parts): void {
  ledgers.set(eventHub, ledger);
}
