/** What `chargeonce publish` says of lines that were not delivered. */
import { describe, expect, it } from 'vitest';
import { type Report, words } from '../../../runtime/ops/publish-report';
import { sendFailure } from '../../../runtime/sources/event-hubs/publisher-errors';

const report = (lines: Report['lines'], more: Partial<Report> = {}): string[] =>
  words({
    ...{ target: 'usage', noun: 'events', read: lines.length, sent: 0, retried: 0, requests: 1 },
    ...{ undelivered: lines.length, lines, ...more },
  }).split('\n');
const failed = (numbers: readonly number[], reason: string) => numbers.map((line) => ({ line, reason }));
const upTo = (count: number) => Array.from({ length: count }, (_, n) => n + 1);

describe('lines that were not delivered', () => {
  it('are named by reason, each once, in order, whatever order they failed in', () => {
    const lines = [...failed(upTo(500).toReversed(), 'no login'), ...failed([700, 502, 501], 'too large')];
    expect(report(lines).slice(2, -1)).toEqual(['  lines 1 to 500: no login', '  lines 501 to 502, 700: too large']);
  });

  it('alone is called a line', () => {
    expect(report(failed([7], 'too large'))).toContain('  line 7: too large');
  });

  it('here and there are shown as far as a reader looks', () => {
    const odd = upTo(30).filter((n) => n % 2 === 1);
    expect(report(failed(odd, 'x'))).toContain('  lines 1, 3, 5, 7, 9, 11, 13, 15, 17, 19 and 5 more: x');
  });

  it('beyond those that are named are counted', () => {
    expect(report(failed([1, 2], 'x'), { undelivered: 5 })).toContain('  and 3 more');
  });
});

describe('the reason', () => {
  const error = (more: object) => Object.assign(new Error('it failed'), more);

  it.each(['CredentialUnavailableError', 'AuthenticationError', 'AggregateAuthenticationError'])(
    'of %s says how to log in, and which role it takes',
    (name) => {
      const { what, reason } = sendFailure(error({ name }));
      expect(what).toBe('stop');
      for (const word of ['az login', 'AZURE_CLIENT_ID', 'managed identity', 'Azure Event Hubs Data Sender']) {
        expect(reason).toContain(word);
      }
    },
  );

  it('of a hub that does not exist says so', () => {
    const { what, reason } = sendFailure(error({ code: 'MessagingEntityNotFoundError' }));
    expect(what).toBe('stop');
    expect(reason).toContain('Create the event hub, or correct its name');
  });
});
