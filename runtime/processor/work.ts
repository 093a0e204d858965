/** One event on its way through the processor. */
import type { LowWaterEntry } from '../checkpoint/low-water';
import type { PartitionState } from './partition-state';
import type { BillingEvent, ChargeRow } from './ports';

export interface Work {
  readonly event: BillingEvent;
  readonly sourcePosition: string;
  readonly entry: LowWaterEntry;
  readonly partition: PartitionState;
  /** Monotonic milliseconds of the first claim; undefined before it. Parking counts from here. */
  firstClaimedAt: number | undefined;
}

export interface Claimed {
  readonly work: Work;
  readonly row: ChargeRow;
  /** Monotonic milliseconds from before the claim was sent. */
  readonly claimedAt: number;
}
