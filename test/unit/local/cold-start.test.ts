/** Two winners of one partition must be condemned: the claims of a store without conditions look like that. */
import { describe, expect, it } from 'vitest';
import { FaultLog } from '../../../stacks/local/faults/context';
import { judgeClaims } from '../../../stacks/local/sources/event-hubs/cold-start';
import type { BlobRequest } from '../../support/blob-fault-proxy';

const claim = (partition: number, owner: string, status: number | undefined): BlobRequest => ({
  method: 'PUT',
  path: `/account/container/space/hub/group/ownership/${partition}`,
  query: new URLSearchParams(),
  headers: { 'x-ms-meta-ownerid': owner },
  status,
});
const judged = (...claims: BlobRequest[]) => {
  const log = new FaultLog();
  judgeClaims(claims, log);
  return { problems: log.problems, reports: log.reports };
};

describe('claims on an empty container', () => {
  it('are fine when one of two wins', () => {
    expect(judged(claim(0, 'a', 201), claim(0, 'b', 409), claim(1, 'b', 201))).toEqual({
      problems: [],
      reports: [{ name: 'cold-start', injected: 1, seen: 1 }],
    });
  });

  it('are condemned when both win', () => {
    const { problems, reports } = judged(claim(0, 'a', 201), claim(0, 'b', 201));
    expect(problems).toEqual(['Partition 0 was claimed by 2 workers at once.']);
    expect(reports).toEqual([{ name: 'cold-start', injected: 1, seen: 0 }]);
  });

  it('prove nothing when nobody was told that it won', () => {
    expect(judged(claim(0, 'a', undefined), claim(0, 'b', 409)).reports).toMatchObject([{ injected: 1, seen: 0 }]);
  });

  it('of different partitions are no collision', () => {
    expect(judged(claim(0, 'a', 201), claim(1, 'b', 201))).toEqual({ problems: [], reports: [] });
  });
});
