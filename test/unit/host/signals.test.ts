import { describe, expect, test } from 'vitest';
import { runCode } from './run-code';

/** A worker that drains when `work` says so. */
const worker = (drainTimeoutMs: number, work: string) =>
  runCode(`
    const log = host.createLog({ level: 'info' });
    const signals = host.onSignals({ log, drainTimeoutMs: ${drainTimeoutMs} });
    const alive = setInterval(() => {}, 1000);
    ${work}
    console.log('up');
  `);

const FINISH = `signals.drain.addEventListener('abort', () => { clearInterval(alive); signals.dispose(); });`;

describe('signals', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)('the first %s drains: the process ends by itself, with 0', async (name) => {
    const { child, printed, ended } = worker(60_000, FINISH);
    await printed('up');
    child.kill(name);
    expect(await ended).toMatchObject({ code: 0, signal: null });
  });

  test('the second one ends at once', async () => {
    const { child, printed, ended } = worker(60_000, '');
    await printed('up');
    child.kill('SIGTERM');
    await printed('draining');
    child.kill('SIGTERM');
    const { code, out } = await ended;
    expect(code).toBe(1);
    expect(out).toContain('second signal');
  });

  test('a drain that takes too long ends with 1', async () => {
    const { child, printed, ended } = worker(50, '');
    await printed('up');
    child.kill('SIGTERM');
    const { code, out } = await ended;
    expect(code).toBe(1);
    expect(out).toContain('the drain took too long');
  });

  test('after dispose nothing is handled any more', async () => {
    const { child, printed, ended } = worker(60_000, 'signals.dispose();');
    await printed('up');
    child.kill('SIGTERM');
    expect(await ended).toMatchObject({ code: null, signal: 'SIGTERM' });
  });
});

describe('errors that nobody caught', () => {
  test.each([
    ['exception', `setTimeout(() => { throw new Error('boom sk_live_abc123'); }, 0);`],
    ['rejection', `Promise.reject(new Error('boom sk_live_abc123'));`],
  ])('an %s is logged without secrets and ends the process with 1', async (_kind, work) => {
    const { ended } = worker(60_000, work);
    const { code, out } = await ended;
    expect(code).toBe(1);
    expect(out).toContain('boom sk_live_***');
    expect(out).not.toContain('abc123');
  });
});
