import { describe, expect, it } from 'vitest';
import { spendCapSetting } from '../../../../constructs/shared/spend-cap-setting';
import { stripeShare } from '../../../../constructs/shared/stripe-rate';

describe('the share of the rate', () => {
  it.each([
    { fleet: 20, tasks: 2, share: 5 },
    { fleet: 20, tasks: 3, share: 3.33 },
    { fleet: 20, tasks: 0, share: 20 },
    { fleet: 100, tasks: 50, share: 1 },
    { fleet: 1, tasks: 50, share: 0.01 },
  ])('$tasks tasks of a fleet at $fleet get $share each', ({ fleet, tasks, share }) => {
    expect(stripeShare('Billing', fleet, tasks)).toBe(share);
  });

  it('never adds up to more than the fleet may send, a deploy included', () => {
    for (let tasks = 1; tasks <= 200; tasks += 1) {
      expect(stripeShare('Billing', 20, tasks) * tasks * 2).toBeLessThanOrEqual(20);
    }
  });

  it.each([0, -1, Number.NaN, 0.01])('refuses a fleet at %d', (fleet) => {
    expect(() => stripeShare('Billing/Consumer', fleet, 2)).toThrow(
      `[Billing/Consumer] stripeMaxRps is ${fleet}; allowed: a number from 0.04. It is divided by the 4 tasks`,
    );
  });
});

describe('the spend cap as the runtime reads it', () => {
  it.each([
    [{ usd: 50_000_00 }, 'usd:5000000'],
    [{ usd: 1, EUR: 2, jpy: 3 }, 'eur:2,jpy:3,usd:1'],
  ])('%j', (amounts, setting) => {
    expect(spendCapSetting(amounts)).toBe(setting);
  });

  it.each([
    [{}, 'names no currency'],
    [{ dollars: 1 }, 'currency is "dollars"; allowed: an ISO code of three letters'],
    [{ usd: 0 }, 'cap of usd is 0; allowed: a whole number of minor units from 1'],
    [{ usd: 1.5 }, 'cap of usd is 1.5'],
    [{ usd: -1 }, 'cap of usd is -1'],
    [{ usd: 2 ** 53 }, 'cap of usd is 9007199254740992'],
    [{ usd: 1, USD: 2 }, 'names usd twice'],
  ])('refuses %j', (amounts, message) => {
    expect(() => spendCapSetting(amounts)).toThrow(message);
  });
});
