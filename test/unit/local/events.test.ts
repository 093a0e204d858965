/** Made-up events: a seed gives one history, and a period always fits under the sample stack's cap. */
import { describe, expect, it } from 'vitest';
import { createDecoder } from '../../../runtime/decode';
import { makeEvents } from '../../../stacks/local/events';
import { FAULT_NAMES } from '../../../stacks/local/faults/names';

const decode = createDecoder({ defaultCurrency: 'usd' });
const options = { events: 300, customers: 100, seed: 1, faults: new Set(FAULT_NAMES) };
const text = (seed: number) =>
  makeEvents({ ...options, seed }).lines.map((line) => Buffer.from(line).toString('base64'));
const CAP_CENTS = 50_000_00;

describe('makeEvents', () => {
  it('answers the same bytes for the same seed, and others for another', () => {
    expect(text(7)).toEqual(text(7));
    expect(text(7)).not.toEqual(text(8));
  });

  it('says itself how they must end', () => {
    const { lines, injected, expected } = makeEvents(options);
    const events = lines.map(decode);
    expect(events.filter((event) => !event.ok)).toHaveLength(injected.malformed ?? 0);
    const identities = new Set(
      events.flatMap((decoded) => (decoded.ok ? [`${decoded.event.customerId} ${decoded.event.billingPeriod}`] : [])),
    );
    expect(identities.size).toBe((expected?.charged ?? 0) + (expected?.declined ?? 0));
    expect(expected?.declined).toBe(injected.declines);
    expect(injected.conflict).toBe(3);
  });

  it.each([100, 2_500, 20_000])('keeps a period of %i customers under the cap', (customers) => {
    const spent = new Map<string, number>();
    const { lines } = makeEvents({ events: customers, customers, seed: 3, faults: new Set() });
    const seen = new Set<string>();
    for (const decoded of lines.map(decode)) {
      if (!decoded.ok) throw new Error(decoded.reason);
      const { customerId, billingPeriod, amountCents } = decoded.event;
      if (seen.has(`${customerId} ${billingPeriod}`)) continue;
      seen.add(`${customerId} ${billingPeriod}`);
      spent.set(billingPeriod, (spent.get(billingPeriod) ?? 0) + amountCents);
    }
    expect(Math.max(...spent.values())).toBeLessThanOrEqual(CAP_CENTS);
  });
});
