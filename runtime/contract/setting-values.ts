/** What a setting may be: the runtime reads it so, and the constructs refuse what it would refuse. */
import type { EnvironmentName } from './environment';

export interface NumberRule {
  readonly min: number;
  readonly max: number;
  readonly fallback: number;
  /** What the number counts: `milliseconds`, `bytes`. */
  readonly unit: string;
  readonly decimals?: boolean;
}

export interface ChoiceRule {
  readonly choices: readonly string[];
  readonly fallback: string;
}

interface TextRule {
  readonly pattern: RegExp;
  readonly allowed: string;
  readonly wayOut: string;
}

/** What is wrong with a value, whoever received it. */
export interface SettingFault {
  readonly allowed: string;
  readonly wayOut: string;
}

const WHOLE = /^(0|[1-9]\d{0,14})$/;
const DECIMAL = /^(0|[1-9]\d{0,14})(\.\d{1,6})?$/;
const MS = 'milliseconds';

export const NUMBERS = {
  STRIPE_TIMEOUT_MS: { min: 500, max: 300_000, fallback: 30_000, unit: MS },
  MAX_EVENT_BYTES: { min: 1_024, max: 10_485_760, fallback: 1_048_576, unit: 'bytes' },
  PARK_AFTER_MS: { min: 0, max: 86_400_000, fallback: 300_000, unit: MS },
  RECONCILE_INTERVAL_MS: { min: 100, max: 3_600_000, fallback: 5_000, unit: MS },
  MAX_CONCURRENT_CHARGES: { min: 1, max: 1_000, fallback: 16, unit: 'charges' },
  SPEND_CAP_PERCENT: { min: 1, max: 1_000, fallback: 110, unit: 'percent' },
  CHECKPOINT_INTERVAL_MS: { min: 100, max: 3_600_000, fallback: 5_000, unit: MS },
  CHECKPOINT_COUNT: { min: 1, max: 1_000_000, fallback: 1_000, unit: 'records' },
  CLAIM_TTL_MS: { min: 1_000, max: 3_600_000, fallback: 120_000, unit: MS },
  METRICS_INTERVAL_MS: { min: 1_000, max: 60_000, fallback: 60_000, unit: MS },
  DRAIN_TIMEOUT_MS: { min: 0, max: 3_600_000, fallback: 100_000, unit: MS },
  EVENTHUB_OWNERSHIP_MS: { min: 3_000, max: 600_000, fallback: 60_000, unit: MS },
  EVENTHUB_SILENCE_MS: { min: 1_000, max: 3_600_000, fallback: 60_000, unit: MS },
} as const satisfies Partial<Record<EnvironmentName, NumberRule>>;

export const CHOICES = {
  LOG_LEVEL: { choices: ['debug', 'info', 'warn', 'error'], fallback: 'info' },
  CHECKPOINT_MODE: { choices: ['batch', 'record', 'time', 'count', 'manual'], fallback: 'batch' },
  ALLOW_UNRESTRICTED_STRIPE_KEY: { choices: ['true', 'false'], fallback: 'false' },
} as const satisfies Partial<Record<EnvironmentName, ChoiceRule>>;

export const TEXTS = {
  DEFAULT_CURRENCY: {
    pattern: /^[A-Za-z]{3}$/,
    allowed: 'a three-letter ISO currency code, e.g. usd',
    wayOut: 'Leave it out for usd.',
  },
  BILLING_NAMESPACE: {
    pattern: /^[A-Za-z0-9._-]{1,64}$/,
    allowed: 'up to 64 letters, digits, dots, dashes and underscores, e.g. billing',
    wayOut: 'Leave it out for billing. Changing it on a live system changes every idempotency key.',
  },
} as const satisfies Partial<Record<EnvironmentName, TextRule>>;

/** What is wrong with a number as text, or nothing. */
export function wrongNumber(
  value: string,
  { min, max, fallback, unit, decimals }: NumberRule,
): SettingFault | undefined {
  const number = Number(value);
  if ((decimals === true ? DECIMAL : WHOLE).test(value) && number >= min && number <= max) return undefined;
  const seconds = unit === MS ? /^(\d{1,9})\s?s$/.exec(value)?.[1] : undefined;
  if (seconds !== undefined) {
    const inMs = Number(seconds) * 1000;
    return { allowed: `${MS}, e.g. ${inMs}`, wayOut: `Write ${inMs} without a unit.` };
  }
  const kind = decimals === true ? 'number' : 'whole number';
  return {
    allowed: `${unit}, a ${kind} from ${min} to ${max} in plain digits, e.g. ${fallback}`,
    wayOut: `Write only the digits, or leave it out for ${fallback}.`,
  };
}

/** What is wrong with one of a few words, or nothing. */
export function wrongChoice(value: string, { choices, fallback }: ChoiceRule): SettingFault | undefined {
  if (choices.includes(value)) return undefined;
  return { allowed: choices.join(' | '), wayOut: `Set one of these, or leave it out for ${fallback}.` };
}

/** What the runtime would refuse of a setting by itself; what depends on others, or needs a parser, it alone judges. */
export function wrongSetting(name: string, value: string): SettingFault | undefined {
  // An empty value counts as absent.
  if (value === '') return undefined;
  if (has(NUMBERS, name)) return wrongNumber(value, NUMBERS[name]);
  if (has(CHOICES, name)) return wrongChoice(value, CHOICES[name]);
  if (!has(TEXTS, name) || TEXTS[name].pattern.test(value)) return undefined;
  const { allowed, wayOut } = TEXTS[name];
  return { allowed, wayOut };
}

function has<Rules extends object>(rules: Rules, name: string): name is keyof Rules & string {
  return Object.hasOwn(rules, name);
}
