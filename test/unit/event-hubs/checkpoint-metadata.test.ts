import { describe, expect, it } from 'vitest';
import { checkpointMetadata, isSameHub, startOf } from '../../../runtime/sources/event-hubs/checkpoint-metadata';

const CREATED = Date.parse('2026-11-30T09:12:05.123Z');
const LATER = CREATED + 3_600_000;
const place = { sequenceNumber: 41, offset: '0:123:456' };

describe('a checkpoint', () => {
  it('is read as it was written, for the hub that it was written for', () => {
    const metadata = checkpointMetadata(place, CREATED);
    expect(metadata).toEqual({ sequencenumber: '41', offset: '0:123:456', hubcreatedon: '2026-11-30T09:12:05.123Z' });
    expect(startOf(metadata, LATER, CREATED)).toEqual({ kind: 'behind', place });
  });

  it.each([
    ['the hub was created later', CREATED, LATER, LATER + 1],
    ['the hub was created earlier: it is the one from before a failover', LATER, CREATED, LATER + 1],
  ])('says nothing when %s', (_, written, created, at) => {
    expect(startOf(checkpointMetadata(place, written), at, created)).toEqual({ kind: 'other-hub', place });
  });

  it('is of the same hub when its answers differ by seconds', () => {
    expect(isSameHub(CREATED, CREATED + 59_999)).toBe(true);
    expect(isSameHub(CREATED, CREATED - 60_000)).toBe(false);
    expect(startOf(checkpointMetadata(place, CREATED - 500), LATER, CREATED).kind).toBe('behind');
  });

  it.each([
    ['before the hub was created', CREATED - 1_000, 'other-hub'],
    ['in the second in which it was, as the storage tells time', CREATED - 999, 'behind'],
    ['after it', LATER, 'behind'],
  ])('without the mark of ours, written %s', (_, writtenAt, kind) => {
    expect(startOf(checkpointMetadata(place, undefined), writtenAt, CREATED).kind).toBe(kind);
  });

  it('is taken at its word when the hub does not say when it was created', () => {
    expect(startOf(checkpointMetadata(place, CREATED), 0, undefined).kind).toBe('behind');
  });

  it.each(['', 'no offset', 'null', "1' OR '1", '@latest'])('of the offset %j has none', (offset) => {
    expect(startOf({ sequencenumber: '41', offset }, LATER, CREATED)).toMatchObject({ place: { offset: '' } });
  });

  it.each([undefined, '', 'null', '-1', '4.1', '1e3'])('of the number %j is not understood', (sequencenumber) => {
    const metadata = { offset: '1', ...(sequencenumber === undefined ? {} : { sequencenumber }) };
    expect(startOf(metadata, LATER, CREATED).kind).toBe('unreadable');
  });
});
