/** A verdict must be able to be `fail`: each reason is planted. */
import { describe, expect, it } from 'vitest';
import { FaultLog } from '../../../stacks/local/faults/context';
import type { Counts } from '../../../stacks/local/oracle';
import { reportTable } from '../../../stacks/local/report';
import { type Evidence, sumUp, verdict } from '../../../stacks/local/verdict';

const counts: Counts = {
  published: 10,
  valid: 10,
  distinct: 10,
  charged: 8,
  declined: 2,
  actionRequired: 0,
  processing: 0,
  capBlocked: 0,
  rejected: 0,
  zeroAmount: 0,
  pending: 0,
  deadLettered: 0,
  conflicts: 0,
  doubleCharged: 0,
  lost: 0,
};
const evidence = (over: Partial<Evidence> = {}): Evidence => ({
  source: 'kinesis',
  events: { lines: new Array(10).fill(new Uint8Array()), injected: {}, expected: { charged: 8, declined: 2 } },
  judgement: { counts, problems: [] },
  faults: new FaultLog(),
  fleet: { workers: [], peakMegabytes: 120 },
  drained: [],
  refused: [],
  ...over,
});
const reportOf = (over: Partial<Evidence> = {}) => sumUp([verdict(evidence(over))], 1);
const struck = (seen: number): FaultLog => {
  const log = new FaultLog();
  log.injected('kill');
  log.seen('kill', seen);
  return log;
};

describe('the verdict of two sources', () => {
  const good = verdict(evidence());
  const bad = verdict(evidence({ source: 'event-hubs', refused: ['line 5: too large'] }));

  it('is pass when both are, and sums up how they ended', () => {
    const report = sumUp([good, verdict(evidence({ source: 'event-hubs' }))], 1);
    expect(report).toMatchObject({ verdict: 'pass', problems: [] });
    expect(report.sources.map(({ source }) => source)).toEqual(['kinesis', 'event-hubs']);
    expect(reportTable(report)).toContain('ended as it must (4 declined)');
  });

  it('is fail when one is, and says which', () => {
    const report = sumUp([good, bad], 1);
    expect(report).toMatchObject({ verdict: 'fail', problems: ['event-hubs: Not published: line 5: too large.'] });
  });
});

describe('verdict', () => {
  it('is pass when everything ended as it must', () => {
    const report = reportOf({ faults: struck(1) });
    expect(report).toMatchObject({ verdict: 'pass', problems: [] });
    expect(reportTable(report)).toContain('charged once or ended as it must (2 declined), nothing charged twice');
  });

  it('is pass for a fault that found nothing to strike', () => {
    expect(reportOf().verdict).toBe('pass');
  });

  it.each([
    ['nothing was charged', { judgement: { counts: { ...counts, charged: 0, capBlocked: 8 }, problems: [] } }],
    ['a fault was injected and not seen', { faults: struck(0) }],
    ['a line was not published', { refused: ['line 5: too large'] }],
    ['the judge found something', { judgement: { counts, problems: ['Lost: x'] } }],
    ['a worker did not drain', { drained: ['worker-1 did not drain'] }],
    ['a worker grew', { fleet: { workers: [], peakMegabytes: 201 } }],
  ] as const)('is fail when %s', (_, over) => {
    const report = reportOf(over as Partial<Evidence>);
    expect(report.verdict).toBe('fail');
    expect(report.problems).toHaveLength(1);
    expect(reportTable(report)).toContain('FAIL');
  });
});
