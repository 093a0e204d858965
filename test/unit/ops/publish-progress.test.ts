import { describe, expect, test } from 'vitest';
import { publishProgress } from '../../../runtime/ops/publish-progress';
import { FakeHost } from '../../support/fake-host';
import { fakeShell } from './fake-shell';

const now = (sent: number) => ({ read: 1_000, sent, retried: 2, undelivered: 1 });

describe('progress', () => {
  test('is one line that is redrawn on a terminal, not more often than it can be read', async () => {
    const { shell, written } = fakeShell([]);
    const host = new FakeHost();
    const progress = publishProgress({ ...shell, interactive: true }, host);
    for (let sent = 0; sent < 1_000; sent += 1) {
      progress.show(now(sent));
      await host.advance(1);
    }
    progress.end(now(1_000));
    const draws = written.err.split('\r\x1b[K').slice(1);
    expect(draws.length).toBe(10);
    expect(draws.at(-1)).toBe('sent 1000 of 1000 read, 2 retried, 1 not delivered\n');
    expect(draws.slice(0, -1).join('')).not.toContain('\n');
  });

  test('is a plain line every five seconds elsewhere, and none for short work', async () => {
    const { shell, written } = fakeShell([]);
    const host = new FakeHost();
    const progress = publishProgress(shell, host);
    progress.show(now(1));
    expect(written.err).toBe('');
    await host.advance(5_000);
    progress.show(now(500));
    progress.show(now(501));
    progress.end(now(1_000));
    expect(written.err).toBe('sent 500 of 1000 read, 2 retried, 1 not delivered\n');
  });
});
