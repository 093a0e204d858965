/** Bytes from a stream → an event, or the reason why they are none. Trusts nothing. Pure. */
import type { BillingEvent } from '../processor/ports';
import { readAmount, readCurrency } from './amount';
import { findCurrency } from './currencies';
import { createFindField, type FieldName, type FieldPointers, type FindField } from './fields';
import { type JsonObject, parseBody } from './parse-body';
import { Rejected } from './rejected';
import { description, metadata, numberOrText, paymentMethod, requiredText, stripeCustomerId } from './text-fields';

export const DEFAULT_MAX_EVENT_BYTES = 1024 * 1024;
/** The largest record that a stream can hold. */
export const LARGEST_MAX_EVENT_BYTES = 10 * 1024 * 1024;

const MAX_CUSTOMER_ID = 255;
const MAX_BILLING_PERIOD = 64;
const MAX_UNITS = 64;
const MAX_EVENT_ID = 255;

export interface DecoderOptions {
  /** ISO code in any case, for events that name no currency. */
  readonly defaultCurrency: string;
  /** Our names → JSON Pointers into the producer's bodies. Our own spellings alone when absent. */
  readonly fields?: FieldPointers;
  /** Larger bodies are dead letters. 1 MiB when absent, at most 10 MiB. */
  readonly maxBytes?: number;
}

/** An event with what is there for people alone: never part of an identity, nor of the ledger. */
export interface DecodedEvent extends BillingEvent {
  /** As it was written. The description template may show it. */
  readonly unitsConsumed?: string;
  /** The producer's name of this event, for logs. */
  readonly eventId?: string;
}

/** `reason` is one sentence for people: the field, what was received, what is allowed. */
export type Decoded =
  | { readonly ok: true; readonly event: DecodedEvent }
  | { readonly ok: false; readonly reason: string };
export type Decode = (body: Uint8Array) => Decoded;

/** A value only when there is one: an absent field is absent in the event too. */
const optional = <Name extends string, Value>(name: Name, value: Value | undefined) =>
  (value === undefined ? {} : { [name]: value }) as { readonly [key in Name]?: Value };

function readEvent(
  body: JsonObject,
  find: FindField,
  defaultCurrency: NonNullable<ReturnType<typeof findCurrency>>,
): DecodedEvent {
  const field = (name: FieldName) => find(body, name);
  const currency = readCurrency(field('currency'), defaultCurrency);
  return {
    customerId: requiredText(field('customer_id'), MAX_CUSTOMER_ID),
    billingPeriod: requiredText(field('billing_period'), MAX_BILLING_PERIOD),
    stripeCustomerId: stripeCustomerId(field('stripe_customer_id')),
    amountCents: readAmount(field('amount_cents'), currency),
    currency: currency.code,
    ...optional('paymentMethod', paymentMethod(field('payment_method'))),
    ...optional('description', description(field('description'))),
    ...optional('metadata', metadata(field('metadata'))),
    ...optional('unitsConsumed', numberOrText(field('units_consumed'), MAX_UNITS)),
    ...optional('eventId', numberOrText(field('event_id'), MAX_EVENT_ID)),
  };
}

/** Makes the decoder, which never throws. Throws itself when an option is wrong. */
export function createDecoder(options: DecoderOptions): Decode {
  const defaultCurrency = findCurrency(options.defaultCurrency);
  if (defaultCurrency === undefined) {
    throw new Error(
      `DEFAULT_CURRENCY is ${JSON.stringify(options.defaultCurrency)}; ` +
        'allowed is the ISO code of a currency that Stripe takes, for example usd',
    );
  }
  const maxBytes = options.maxBytes ?? DEFAULT_MAX_EVENT_BYTES;
  if (!Number.isSafeInteger(maxBytes) || maxBytes < 1 || maxBytes > LARGEST_MAX_EVENT_BYTES) {
    throw new Error(`MAX_EVENT_BYTES is ${maxBytes}; allowed is a whole number from 1 to ${LARGEST_MAX_EVENT_BYTES}`);
  }
  const find = createFindField(options.fields);
  return (body) => {
    try {
      return { ok: true, event: readEvent(parseBody(body, maxBytes), find, defaultCurrency) };
    } catch (error) {
      if (error instanceof Rejected) return { ok: false, reason: error.message };
      throw error;
    }
  };
}
