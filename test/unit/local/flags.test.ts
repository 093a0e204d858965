/** What can be asked of a run: which sources, which stack, which faults go together. */
import { describe, expect, it } from 'vitest';
import { faultsOf } from '../../../stacks/local/faults/names';
import { readFlags } from '../../../stacks/local/flags';

const HERE = __filename;
const flags = (...argv: string[]) => {
  const read = readFlags(argv);
  if (!('flags' in read)) throw new Error(JSON.stringify(read));
  return read.flags;
};
const problems = (...argv: string[]) => {
  const read = readFlags(argv);
  return 'problems' in read ? read.problems.join('\n') : '';
};

describe('the flags', () => {
  it('run both sources with everything that can be done to either, unless told otherwise', () => {
    const { sources, faults } = flags();
    expect(sources).toEqual(['kinesis', 'event-hubs']);
    expect(faults).toEqual(new Set([...faultsOf('kinesis'), ...faultsOf('event-hubs')]));
  });

  it('take a stack of the user as one of its own source', () => {
    expect(flags('--template', HERE)).toMatchObject({ sources: ['kinesis'], stack: HERE });
    expect(flags('--program', HERE)).toMatchObject({ sources: ['event-hubs'], stack: HERE });
    expect(flags('--program', HERE, '--source', 'event-hubs').sources).toEqual(['event-hubs']);
  });

  it.each([
    [['--source', 'carrier-pigeon'], '--source was "carrier-pigeon"'],
    [['--source', 'all', '--template', HERE], '--template goes with --source kinesis alone'],
    [['--source', 'kinesis', '--program', HERE], '--program goes with --source event-hubs alone'],
    [['--template', HERE, '--program', HERE], '--program goes with --source event-hubs alone'],
    [['--program', 'nowhere.ts'], 'there is no file "nowhere.ts"'],
    [['--source', 'kinesis', '--faults', 'lost-ack'], 'lost-ack cannot be done to kinesis'],
    [['--source', 'event-hubs', '--faults', 'split'], 'split cannot be done to event-hubs'],
    [['--file', HERE, '--faults', 'malformed'], 'malformed changes the events'],
  ])('refuse %j', (argv, words) => {
    expect(problems(...argv)).toContain(words);
  });

  it('leave the events of a file as they are, and make the machinery fail', () => {
    expect([...flags('--file', HERE, '--source', 'event-hubs').faults]).not.toContain('duplicates');
    expect([...flags('--file', HERE, '--source', 'event-hubs').faults]).toContain('storage-outage');
  });

  it('do a fault of one source to that source alone', () => {
    expect(flags('--faults', 'split,lost-ack').faults).toEqual(new Set(['split', 'lost-ack']));
  });
});
