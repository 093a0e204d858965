/** How events become charges: identity, limits, timing, spend cap, checkpoint mode. */

import type { CheckpointOptions } from '../checkpoint/policy';
import { CHOICES, NUMBERS, TEXTS } from '../contract/setting-values';
import { checkDescriptionTemplate, DEFAULT_DESCRIPTION_TEMPLATE, FIELD_NAMES, findCurrency } from '../decode';
import type { Reader } from './reader';

export interface BillingConfig {
  /** Part of what every idempotency key is hashed from. */
  readonly namespace: string;
  /** Lower-case ISO code for events that name no currency. */
  readonly defaultCurrency: string;
  /** Absent: `Usage {billing_period}`. An event's own description wins. */
  readonly descriptionTemplate?: string;
  /** Our field names to JSON Pointers into the producer's body. Empty: the standard shape. */
  readonly eventFields: Readonly<Record<string, string>>;
  readonly maxEventBytes: number;
  /** A pending row this old may be passed by the checkpoint; the reconciler owns it from there. */
  readonly parkAfterMs: number;
  readonly reconcileIntervalMs: number;
  readonly maxConcurrentCharges: number;
  readonly claimTtlMs: number;
}

export interface SpendCapConfig {
  readonly mode: 'off' | 'ledger';
  /** Cap of a billing period in minor units, by lower-case currency. Empty when off. */
  readonly perPeriod: Readonly<Record<string, number>>;
  /** What `cap set --expected` multiplies with, in percent. */
  readonly percent: number;
}

/** Which position is eligible to be written, and when. */
export type CheckpointConfig = CheckpointOptions;

/** The claim must outlive a create and a confirm, each at its deadline, and the ledger's own time around them. */
export const CLAIM_MARGIN_MS = 10_000;

export function readBilling(reader: Reader, stripeTimeoutMs: number): BillingConfig {
  const currency = reader.matching('DEFAULT_CURRENCY', TEXTS.DEFAULT_CURRENCY.pattern, TEXTS.DEFAULT_CURRENCY);
  if (currency !== undefined && findCurrency(currency) === undefined) {
    reader.problem('DEFAULT_CURRENCY', {
      allowed: 'a currency that Stripe charges in',
      wayOut: 'Leave it out for usd; events may name their own.',
    });
  }
  const namespace = reader.matching('BILLING_NAMESPACE', TEXTS.BILLING_NAMESPACE.pattern, TEXTS.BILLING_NAMESPACE);
  const template = readTemplate(reader);
  const claimTtlMs = reader.milliseconds('CLAIM_TTL_MS', NUMBERS.CLAIM_TTL_MS);
  const least = 2 * stripeTimeoutMs + CLAIM_MARGIN_MS;
  if (claimTtlMs < least) {
    reader.problem(
      'CLAIM_TTL_MS',
      {
        allowed: `at least ${least}: twice STRIPE_TIMEOUT_MS (${stripeTimeoutMs}) plus ${CLAIM_MARGIN_MS}`,
        wayOut: `Raise it to ${least} or lower STRIPE_TIMEOUT_MS: a claim that expires in mid-charge makes work twice.`,
      },
      String(claimTtlMs),
    );
  }
  return {
    namespace: namespace ?? 'billing',
    defaultCurrency: (currency ?? 'usd').toLowerCase(),
    ...(template === undefined ? {} : { descriptionTemplate: template }),
    eventFields: readEventFields(reader),
    maxEventBytes: reader.number('MAX_EVENT_BYTES', NUMBERS.MAX_EVENT_BYTES),
    parkAfterMs: reader.milliseconds('PARK_AFTER_MS', NUMBERS.PARK_AFTER_MS),
    reconcileIntervalMs: reader.milliseconds('RECONCILE_INTERVAL_MS', NUMBERS.RECONCILE_INTERVAL_MS),
    maxConcurrentCharges: reader.number('MAX_CONCURRENT_CHARGES', NUMBERS.MAX_CONCURRENT_CHARGES),
    claimTtlMs,
  };
}

function readTemplate(reader: Reader): string | undefined {
  const template = reader.optional('DESCRIPTION_TEMPLATE');
  try {
    if (template !== undefined) checkDescriptionTemplate(template);
  } catch (error) {
    reader.problem('DESCRIPTION_TEMPLATE', {
      allowed: `text with placeholders of the events, e.g. ${DEFAULT_DESCRIPTION_TEMPLATE}`,
      wayOut: (error as Error).message,
    });
  }
  return template;
}

function readEventFields(reader: Reader): Record<string, string> {
  const value = reader.optional('EVENT_FIELDS');
  if (value === undefined) return {};
  const fault = {
    allowed: `a JSON object from our names (${FIELD_NAMES.join(', ')}) to JSON Pointers, e.g. {"customer_id":"/account/id"}`,
    wayOut: 'A pointer begins with a slash; leave EVENT_FIELDS out for the standard shape.',
  };
  const parsed = parseJson(value);
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    reader.problem('EVENT_FIELDS', fault);
    return {};
  }
  const fields: Record<string, string> = {};
  for (const [name, pointer] of Object.entries(parsed)) {
    if (
      !FIELD_NAMES.some((known) => known === name) ||
      typeof pointer !== 'string' ||
      !/^(\/([^~]|~[01])*)+$/.test(pointer)
    ) {
      reader.problem('EVENT_FIELDS', fault, JSON.stringify({ [name]: pointer }));
    } else {
      fields[name] = pointer;
    }
  }
  return fields;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function readSpendCap(reader: Reader, defaultCurrency: string): SpendCapConfig {
  const percent = reader.number('SPEND_CAP_PERCENT', NUMBERS.SPEND_CAP_PERCENT);
  const perPeriod = readAmounts(reader);
  const mode = reader.optional('SPEND_CAP_MODE');
  if (mode === 'off') {
    if (Object.keys(perPeriod).length > 0) {
      reader.problem('SPEND_CAP_DEFAULT', {
        allowed: 'nothing while SPEND_CAP_MODE is off',
        wayOut: 'Nothing would enforce it: set SPEND_CAP_MODE=ledger, or take the amount away.',
      });
    }
    return { mode: 'off', perPeriod: {}, percent };
  }
  if (mode !== 'ledger') {
    const proxy = mode === 'proxy' ? 'proxy is not in this version. ' : '';
    reader.problem('SPEND_CAP_MODE', {
      allowed: 'ledger | off',
      wayOut: `${proxy}Say SPEND_CAP_MODE=ledger with SPEND_CAP_DEFAULT, or off to bill without a cap: it is never assumed.`,
    });
  } else if (reader.optional('SPEND_CAP_DEFAULT') === undefined) {
    reader.problem('SPEND_CAP_DEFAULT', {
      allowed: 'currency:amount in minor units, e.g. usd:5000000,eur:4500000',
      wayOut: 'Say the most that one billing period may cost, or SPEND_CAP_MODE=off.',
    });
  } else if (perPeriod[defaultCurrency] === undefined) {
    reader.warn(
      'SPEND_CAP_DEFAULT',
      `names no amount for ${defaultCurrency}: charges in it are blocked until a cap is set`,
    );
  }
  return { mode: 'ledger', perPeriod, percent };
}

function readAmounts(reader: Reader): Record<string, number> {
  const value = reader.optional('SPEND_CAP_DEFAULT');
  const amounts: Record<string, number> = {};
  if (value === undefined) return amounts;
  for (const part of value.split(',')) {
    const [, code, digits] = /^\s*([A-Za-z]{3}):(0|[1-9]\d{0,15})\s*$/.exec(part) ?? [];
    const currency = code?.toLowerCase();
    const amount = Number(digits);
    if (currency === undefined || !Number.isSafeInteger(amount) || amounts[currency] !== undefined) {
      reader.problem(
        'SPEND_CAP_DEFAULT',
        {
          allowed: 'currency:amount in minor units, each currency once, e.g. usd:5000000,eur:4500000',
          wayOut: 'Write 50,000 dollars as usd:5000000.',
        },
        part,
      );
    } else {
      amounts[currency] = amount;
    }
  }
  return amounts;
}

export function readCheckpoint(reader: Reader): CheckpointConfig {
  const mode = reader.oneOf('CHECKPOINT_MODE', CHOICES.CHECKPOINT_MODE.choices, CHOICES.CHECKPOINT_MODE.fallback);
  if (mode === 'manual') {
    reader.warn(
      'CHECKPOINT_MODE',
      'manual writes a checkpoint only at the end of a partition and at a stop: a worker that dies is followed by one that reads everything since its start again',
    );
  }
  return {
    mode,
    intervalMs: reader.milliseconds('CHECKPOINT_INTERVAL_MS', NUMBERS.CHECKPOINT_INTERVAL_MS),
    count: reader.number('CHECKPOINT_COUNT', NUMBERS.CHECKPOINT_COUNT),
  };
}
