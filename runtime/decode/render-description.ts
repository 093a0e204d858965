/** The text that Stripe shows beside a charge. */
import type { BillingEvent } from '../processor/ports';

export const DEFAULT_DESCRIPTION_TEMPLATE = 'Usage {billing_period}';
/** Stripe's limit. */
const MAX_DESCRIPTION = 1000;
const PLACEHOLDERS = ['customer_id', 'billing_period', 'units_consumed'] as const;
type Placeholder = (typeof PLACEHOLDERS)[number];
const isPlaceholder = (name: string): name is Placeholder => PLACEHOLDERS.some((known) => known === name);

/** Throws when a template names a placeholder that does not exist. For the configuration, before any event. */
export function checkDescriptionTemplate(template: string): void {
  for (const [, name = ''] of template.matchAll(/\{(\w*)\}/g)) {
    if (isPlaceholder(name)) continue;
    const allowed = PLACEHOLDERS.map((known) => `{${known}}`).join(', ');
    throw new Error(`DESCRIPTION_TEMPLATE names {${name}}; allowed are ${allowed}`);
  }
}

/**
 * The event's own description, else the template with its placeholders filled in (an absent one by nothing), cut at
 * Stripe's limit. Null when nothing remains. Frozen in the row by the claim, so a later template changes no resend.
 */
export function renderDescription(
  template: string,
  event: BillingEvent & { readonly unitsConsumed?: string },
): string | null {
  if (event.description !== undefined) return event.description;
  const values: Readonly<Record<Placeholder, string>> = {
    customer_id: event.customerId,
    billing_period: event.billingPeriod,
    units_consumed: event.unitsConsumed ?? '',
  };
  const text = template
    .replace(/\{(\w+)\}/g, (whole, name: string) => (isPlaceholder(name) ? values[name] : whole))
    .trim();
  if (text === '') return null;
  return text.length <= MAX_DESCRIPTION ? text : [...text].slice(0, MAX_DESCRIPTION).join('');
}
