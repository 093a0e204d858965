/**
 * Stripe may forget an idempotency key after 24 hours. Two days leave one whole day to notice an outage and to
 * repair it before an event expires unread.
 */
export const MIN_RETENTION_HOURS = 48;
