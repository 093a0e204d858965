/** Fields of an event that `EVENT_FIELDS` can map. */
export const FIELD_NAMES: readonly string[] = [
  'customer_id',
  'billing_period',
  'amount_cents',
  'stripe_customer_id',
  'currency',
  'payment_method',
  'description',
  'units_consumed',
  'metadata',
  'event_id',
];
