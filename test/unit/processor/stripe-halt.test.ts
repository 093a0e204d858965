import { describe, expect, it } from 'vitest';
import { StripeHalt } from '../../../runtime/processor/stripe-halt';
import { FakeHost } from '../../support/fake-host';
import { KeptLog, KeptMetrics } from '../../support/quiet';

function aHalt() {
  const host = new FakeHost();
  const log = new KeptLog();
  const metrics = new KeptMetrics();
  return { host, log, metrics, halt: new StripeHalt(host, log, metrics) };
}

describe('the pause while Stripe refuses the key', () => {
  it('lasts 30 s from the last refusal', async () => {
    const { host, halt } = aHalt();
    expect(halt.remainingMs()).toBe(0);
    halt.halt('Invalid API Key provided');
    expect(halt.remainingMs()).toBe(30_000);
    await host.advance(20_000);
    halt.halt('Invalid API Key provided');
    expect(halt.remainingMs()).toBe(30_000);
    await host.advance(30_000);
    expect(halt.remainingMs()).toBe(0);
  });

  it('says why until a call was accepted, and logs the change only', () => {
    const { halt, log, metrics } = aHalt();
    halt.clear();
    expect(log.lines).toEqual([]);
    halt.halt('Invalid API Key provided');
    halt.halt('Invalid API Key provided');
    expect(halt.reason()).toMatch(/Invalid API Key provided/);
    expect(metrics.gauged('halted')).toBe(1);
    halt.clear();
    expect(halt.reason()).toBeUndefined();
    expect(halt.remainingMs()).toBe(0);
    expect(metrics.gauged('halted')).toBe(0);
    expect(log.lines.map((line) => line.level)).toEqual(['error', 'info']);
  });
});
