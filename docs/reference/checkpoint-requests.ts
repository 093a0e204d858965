/** What workers ask of the storage account with the checkpoints, from the defaults of the Event Hubs source. */
import { table } from './table';

/** Ownership is looked at and renewed so often: six times in EVENTHUB_OWNERSHIP_MS. */
const LOOK_SECONDS = 10;
/** At most one checkpoint of a partition in so many seconds. */
const CHECKPOINT_SECONDS = 3;
/** Who owns it, how far it is, and the write. */
const REQUESTS_A_CHECKPOINT = 3;

export interface CheckpointRequests {
  readonly lists: number;
  readonly renewals: number;
  /** At most: while every partition has events all the time. */
  readonly checkpoints: number;
}

/** A second. */
export function checkpointRequests(partitions: number, workers: number): CheckpointRequests {
  return {
    lists: workers / LOOK_SECONDS,
    renewals: partitions / LOOK_SECONDS,
    checkpoints: (partitions * REQUESTS_A_CHECKPOINT) / CHECKPOINT_SECONDS,
  };
}

const EXAMPLES = [
  { partitions: 4, workers: 2 },
  { partitions: 8, workers: 4 },
  { partitions: 32, workers: 8 },
  { partitions: 100, workers: 20 },
  { partitions: 1_024, workers: 100 },
];

export function checkpointTable(): string {
  const rows = EXAMPLES.map(({ partitions, workers }) => {
    const { lists, renewals, checkpoints } = checkpointRequests(partitions, workers);
    return [
      `${partitions.toLocaleString('en-US')} / ${workers}`,
      ...[lists, renewals, checkpoints, lists + renewals + checkpoints].map((each) =>
        each < 10 ? String(Math.round(each * 10) / 10) : Math.round(each).toLocaleString('en-US'),
      ),
    ];
  });
  return table(['partitions / workers', 'lists', 'renewals', 'checkpoints, at most', 'requests a second'], rows);
}
