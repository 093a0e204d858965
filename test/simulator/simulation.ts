/** What the parts of a history know of it as a whole. */
import type { CheckpointOptions } from '../../runtime/checkpoint/policy';
import type { Decide } from '../../runtime/processor/decide';
import type { LedgerPort, StripePort } from '../../runtime/processor/ports';
import type { Clock } from './clock';
import type { Faults } from './faults';
import type { Life } from './life';
import type { ModelLedger, Rule } from './model-ledger';
import type { ModelStripe } from './model-stripe';
import type { Random } from './random';
import type { SimPartition, SimShard } from './sim-stream';

/** What a twin takes away. */
export interface Twin {
  readonly off?: readonly Rule[];
  readonly decide?: Decide;
  readonly ledger?: (real: LedgerPort) => LedgerPort;
  readonly stripe?: (real: StripePort) => StripePort;
  /** Stripe's part of R1: a create that moves money at once. */
  readonly createConfirms?: boolean;
  /** Customers with a charge under way are free for another one. */
  readonly neverBusy?: boolean;
}

export interface Settings {
  /** By the ledger's clock. */
  readonly claimTtlMs: number;
  /** What the workers believe; more than the ledger gives makes holders that outlive their claims. */
  readonly believedTtlMs: number;
  readonly ledgerRetryForMs: number;
  readonly parkAfterMs: number;
  readonly maxConcurrentCharges: number;
  readonly checkpoint: CheckpointOptions;
  readonly reconcileIntervalMs: number;
}

export interface Simulation {
  readonly seed: number;
  readonly twin: Twin;
  readonly settings: Settings;
  /** Until here the world is hostile. */
  readonly horizonMs: number;
  readonly clock: Clock;
  readonly chaos: Random;
  readonly faults: Faults;
  readonly stripe: ModelStripe;
  readonly shards: readonly SimShard[];
  readonly ledger: {
    readonly model: ModelLedger;
    /** Executes a statement and looks at the rows afterwards. */
    changed<T>(statement: () => T): T;
  };
  ledgerDown(): boolean;
  checkpointed(shard: SimShard, position: number): void;
  /** Notes a broken promise; the history ends with the step. */
  broken(rule: string, detail: string): void;
  crash(worker: { readonly life: Life; readonly partitions: ReadonlySet<SimPartition> }): void;
}
