import { describe, expect, it } from 'vitest';
import {
  checkDescriptionTemplate,
  DEFAULT_DESCRIPTION_TEMPLATE,
  type DecodedEvent,
  renderDescription,
} from '../../../runtime/decode';

const event: DecodedEvent = {
  customerId: 'c',
  billingPeriod: '2026-10',
  stripeCustomerId: 'cus_1',
  amountCents: 1,
  currency: 'usd',
};

describe('renderDescription', () => {
  it.each([
    [DEFAULT_DESCRIPTION_TEMPLATE, event, 'Usage 2026-10'],
    ['{customer_id}: {units_consumed} units', { ...event, unitsConsumed: '12.50' }, 'c: 12.50 units'],
    ['{units_consumed}', event, null],
    ['', event, null],
    [DEFAULT_DESCRIPTION_TEMPLATE, { ...event, description: 'My own {billing_period}' }, 'My own {billing_period}'],
    ['{customer_id}', { ...event, customerId: '{billing_period}' }, '{billing_period}'],
    ['{customer_id}', { ...event, customerId: '$&' }, '$&'],
    ['{toString} {billing_period}', event, '{toString} 2026-10'],
  ])('%j', (template, of, text) => {
    expect(renderDescription(template, of)).toBe(text);
  });

  it('is cut at Stripe’s limit, between characters', () => {
    const text = renderDescription('🦊'.repeat(1500), event);
    expect([...(text ?? '')]).toHaveLength(1000);
    expect(text).not.toMatch(/\p{Surrogate}/u);
  });
});

describe('checkDescriptionTemplate', () => {
  it.each([DEFAULT_DESCRIPTION_TEMPLATE, '', 'x', '{customer_id}{units_consumed}'])('%j is fine', (template) => {
    expect(() => checkDescriptionTemplate(template)).not.toThrow();
  });
  it.each(['{period}', '{}', 'Usage {billing_period} {amount}'])('%j is refused', (template) => {
    expect(() => checkDescriptionTemplate(template)).toThrow('allowed are {customer_id}');
  });
});
