/** How a publisher says how far it is, and what stays behind. */

export interface PublishProgress {
  /** Lines read, without empty ones. */
  readonly read: number;
  readonly sent: number;
  /** Times an entry was sent once more. */
  readonly retried: number;
  readonly undelivered: number;
  readonly requests: number;
}

export interface Undelivered {
  /** Number of the line, from 1. */
  readonly line: number;
  readonly reason: string;
  readonly data: Uint8Array;
}

export interface Publisher<Progress extends PublishProgress = PublishProgress> {
  /** Reads to the end. Empty lines are skipped. Rejects only when reading or a callback fails. */
  publish(lines: AsyncIterable<Uint8Array>): Promise<Progress>;
}
