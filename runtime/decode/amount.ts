/** Amount and currency by Stripe's rules. Minimums depend on the settlement currency: Stripe answers for those. */
import { type Currency, findCurrency } from './currencies';
import type { Found } from './fields';
import { JsonNumber, readInteger } from './json-number';
import { reject } from './rejected';
import { show } from './show';

/** The currency of the event, or the default when absent. */
export function readCurrency({ label, value }: Found, defaultCurrency: Currency): Currency {
  if (value === undefined) return defaultCurrency;
  const currency = typeof value === 'string' ? findCurrency(value) : undefined;
  if (currency === undefined) {
    reject(`${label} is ${show(value)}; it must be the three-letter ISO code of a currency that Stripe takes.`);
  }
  return currency;
}

function checkForCurrency(label: string, amount: number, currency: Currency): void {
  const code = currency.code.toUpperCase();
  if (String(amount).length > currency.maxDigits) {
    reject(`${label} is ${amount}; Stripe takes at most ${currency.maxDigits} digits in ${code}.`);
  }
  if (amount % currency.multipleOf === 0) return;
  if (currency.multipleOf === 100) {
    reject(`${label} is ${amount}; Stripe counts ${code} × 100 in whole units, so it must be a multiple of 100.`);
  }
  reject(
    `${label} is ${amount}; Stripe counts ${code} × 1000 and wants the last digit 0, so it must be a multiple of 10.`,
  );
}

/** Minor units as Stripe counts them, from zero; a safe integer that Stripe can take in this currency. */
export function readAmount({ label, value }: Found, currency: Currency): number {
  const allowed = 'it must be a JSON integer of minor units, 0 or more';
  if (value === undefined) reject(`${label} is missing; ${allowed}.`);
  if (!(value instanceof JsonNumber)) reject(`${label} is ${show(value)}; ${allowed}.`);
  const read = readInteger(value);
  if (read.kind === 'fraction') {
    reject(`${label} is ${show(value)}, which has a fraction; ${allowed} (cents, not dollars).`);
  }
  if (value.text.startsWith('-') && !(read.kind === 'integer' && read.value === 0)) {
    reject(
      `${label} is ${show(value)}, which is negative; a charge cannot give money back: refund or credit it in Stripe.`,
    );
  }
  if (read.kind === 'beyond') {
    reject(`${label} is ${show(value)}, which is beyond 2^53; Stripe takes at most ${currency.maxDigits} digits.`);
  }
  checkForCurrency(label, read.value, currency);
  // Not -0, which would be written as "-0" by some.
  return read.value === 0 ? 0 : read.value;
}
