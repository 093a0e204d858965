/** Text fields: valid Unicode without NUL, within a length counted in code points (as PostgreSQL counts). */
import type { Found } from './fields';
import { JsonNumber } from './json-number';
import { isJsonObject } from './parse-body';
import { reject } from './rejected';
import { show, showText } from './show';

/** Stripe takes 50 entries; the five that tie an intent to its ledger row need their room. */
const MAX_METADATA_KEYS = 45;
const MAX_METADATA_KEY = 40;
const MAX_METADATA_VALUE = 500;
const MAX_DESCRIPTION = 1000;

function checkCharacters(label: string, text: string): void {
  if (text.includes('\0')) reject(`${label} contains the character NUL (\\u0000), which is not allowed.`);
  if (/\p{Surrogate}/u.test(text)) {
    reject(`${label} contains half of a surrogate pair (a broken character); text must be valid Unicode.`);
  }
}

/** `length` is a code point count at most twice as small as the UTF-16 length, so long text is not spread out. */
function isLongerThan(text: string, limit: number): boolean {
  return text.length > 2 * limit || [...text].length > limit;
}

function checkText({ label, value }: Found, limit: number): string {
  const allowed = `it must be text of 1 to ${limit} characters`;
  if (value === undefined) reject(`${label} is missing; ${allowed}.`);
  if (typeof value !== 'string') reject(`${label} is ${show(value)}; ${allowed}.`);
  if (value.trim() === '') reject(`${label} is empty; ${allowed}.`);
  checkCharacters(label, value);
  if (isLongerThan(value, limit)) reject(`${label} is ${showText(value)}, which is too long; ${allowed}.`);
  return value;
}

/** Text that must be there. */
export const requiredText = checkText;

/** Stripe's id of a customer. */
export function stripeCustomerId(found: Found): string {
  const text = checkText(found, 255);
  if (!/^cus_[A-Za-z0-9_-]+$/.test(text)) {
    reject(`${found.label} is ${show(text)}; it must be the id of a Stripe customer, cus_….`);
  }
  return text;
}

/** Stripe's id of a way to pay; undefined when absent: the customer's default. Cards, sources and banks are legacy. */
export function paymentMethod(found: Found): string | undefined {
  if (found.value === undefined) return undefined;
  const text = checkText(found, 255);
  if (!/^(pm|card|src|ba)_[A-Za-z0-9_-]+$/.test(text)) {
    reject(
      `${found.label} is ${show(text)}; it must be the id of a Stripe payment method, pm_… (or card_…, src_…, ba_…), ` +
        "or be left out for the customer's default.",
    );
  }
  return text;
}

/** Undefined when absent or empty. */
export function description(found: Found): string | undefined {
  if (found.value === undefined || found.value === '') return undefined;
  return checkText(found, MAX_DESCRIPTION);
}

/** A number as it was written, or text. Undefined when absent or empty. */
export function numberOrText({ label, value }: Found, limit: number): string | undefined {
  if (value === undefined || value === '') return undefined;
  return checkText({ label, value: value instanceof JsonNumber ? value.text : value }, limit);
}

function metadataValue(label: string, value: unknown): string {
  const text: unknown = value instanceof JsonNumber ? value.text : typeof value === 'boolean' ? String(value) : value;
  if (typeof text !== 'string')
    reject(`${label} is ${show(value)}; a metadata value is text, a number, true or false.`);
  checkCharacters(label, text);
  if (isLongerThan(text, MAX_METADATA_VALUE)) {
    reject(`${label} is longer than ${MAX_METADATA_VALUE} characters, the most that Stripe takes.`);
  }
  return text;
}

/** Entries that are null or empty are left out, as Stripe keeps none. Undefined when nothing remains. */
export function metadata({ label, value }: Found): Record<string, string> | undefined {
  if (value === undefined) return undefined;
  if (!isJsonObject(value)) reject(`${label} is ${show(value)}; it must be an object of texts.`);
  const entries: [string, string][] = [];
  for (const [key, inner] of Object.entries(value)) {
    const name = `${label}, key ${showText(key)},`;
    checkCharacters(`A key of ${label}`, key);
    if (key === '' || isLongerThan(key, MAX_METADATA_KEY) || /[[\]]/.test(key)) {
      reject(`${name} is not allowed; a key has 1 to ${MAX_METADATA_KEY} characters without square brackets.`);
    }
    const text = inner === null ? '' : metadataValue(name, inner);
    if (text !== '') entries.push([key, text]);
  }
  if (entries.length > MAX_METADATA_KEYS) {
    reject(`${label} has ${entries.length} entries; at most ${MAX_METADATA_KEYS} are allowed (Stripe's 50 less ours).`);
  }
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
