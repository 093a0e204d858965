/** What stands in a checkpoint blob, whoever wrote it: a consumer that is replaced in place may have been of another language. */

/** Where a consumer goes on, exclusively. */
export interface EventPlace {
  readonly sequenceNumber: number;
  /** Opaque; empty: unknown, since not every client writes one. */
  readonly offset: string;
}

/** Where reading begins. */
export type Start =
  | { readonly kind: 'behind'; readonly place: EventPlace }
  /** The checkpoint is of a hub that had this name before: nothing in it is true of this one. */
  | { readonly kind: 'other-hub'; readonly place: EventPlace }
  /** What it says is not understood; to begin at the oldest event would be a guess about what was charged. */
  | { readonly kind: 'unreadable'; readonly why: string };

/** Names of metadata, in lower case. Ours alone is the last one; others overwrite it away. */
const [NUMBER, OFFSET, CREATED] = ['sequencenumber', 'offset', 'hubcreatedon'] as const;

/** .NET writes an empty offset, older versions of it the words `no offset`; a number of −1 or less stands for none. */
const A_NUMBER = /^\d+$/;
const AN_OFFSET = /^[\w:.-]*\d[\w:.-]*$/;
/** The storage says in whole seconds when a blob was written. */
const RESOLUTION_MS = 1_000;
/** No hub is in use that was made anew within a minute. */
const SAME_MS = 60_000;

/** @param hubCreatedOn milliseconds since the epoch, as the hub says; undefined when it does not */
export function checkpointMetadata(place: EventPlace, hubCreatedOn: number | undefined): Record<string, string> {
  return {
    [NUMBER]: String(place.sequenceNumber),
    [OFFSET]: place.offset,
    ...(hubCreatedOn === undefined ? {} : { [CREATED]: new Date(hubCreatedOn).toISOString() }),
  };
}

/**
 * What a checkpoint means for a hub that was created at this time: a hub that is deleted and made anew begins its numbers
 * again, and where the old ones fit too, the events up to there would never be read.
 *
 * @param metadata with names in lower case
 * @param writtenAt milliseconds since the epoch, by the storage's clock
 */
export function startOf(
  metadata: Readonly<Record<string, string>>,
  writtenAt: number,
  hubCreatedOn: number | undefined,
): Start {
  const { [NUMBER]: number, [OFFSET]: offset, [CREATED]: created } = metadata;
  if (number === undefined || !A_NUMBER.test(number)) {
    const has = number === undefined ? `no ${NUMBER}` : `the ${NUMBER} ${JSON.stringify(number)}`;
    return { kind: 'unreadable', why: `its metadata have ${has}` };
  }
  const place = {
    sequenceNumber: Number(number),
    offset: offset !== undefined && AN_OFFSET.test(offset) ? offset : '',
  };
  return { kind: isOfOtherHub(created, writtenAt, hubCreatedOn) ? 'other-hub' : 'behind', place };
}

/** Whether two answers to when the hub was created are of one hub. Nobody promises that they agree to the millisecond. */
export function isSameHub(createdOn: number, other: number): boolean {
  return Math.abs(createdOn - other) < SAME_MS;
}

function isOfOtherHub(written: string | undefined, writtenAt: number, hubCreatedOn: number | undefined): boolean {
  if (hubCreatedOn === undefined) return false;
  return written === undefined
    ? writtenAt + RESOLUTION_MS <= hubCreatedOn
    : !isSameHub(Date.parse(written), hubCreatedOn);
}
