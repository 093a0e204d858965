/** What every source has on this machine, whatever it is. */
import type { Client } from 'pg';
import type { StripeEmulator } from '../../../test/emulators/stripe';
import type { Screen } from '../screen';

export const SOURCE_NAMES = ['kinesis', 'event-hubs'] as const;
export type SourceName = (typeof SOURCE_NAMES)[number];

/** A container as the stack declares it, with every reference resolved to the local parts. */
export interface Container {
  readonly name: string;
  readonly command: readonly string[];
  /** All that the process is given. */
  readonly environment: Readonly<Record<string, string>>;
}

/** A login at the ledger's door. */
export interface Login {
  readonly user: string;
  /** Absent: it was let in. */
  readonly refused?: string;
}

/** The local parts of one source. */
export interface Parts {
  readonly stripe: StripeEmulator;
  /** Runs before the workers and must succeed. */
  readonly migrate: Container;
  readonly worker: Container;
  /** For people, with `--keep`. */
  readonly endpoints: Readonly<Record<string, string>>;
  /** Logins with a token, in order. */
  readonly logins: readonly Login[];
  /** The judge's own way to the ledger's tables: past every door and fault. */
  ledgerClient(): Promise<Client>;
  close(): Promise<void>;
}

export interface OpenOptions {
  readonly screen: Screen;
  /** For files of this source's run; exists. */
  readonly folder: string;
  /** A template or program to run instead of the one in `stacks/`. */
  readonly stack: string | undefined;
}

export interface Published {
  /** The lines that the stream accepted, in the order in which they were given. */
  readonly accepted: readonly Uint8Array[];
  /** What it did not take, in words: too large for a record, say. These are no part of the stream. */
  readonly refused: readonly string[];
}
