/**
 * Currencies as Stripe takes them in a charge.
 * Source: https://docs.stripe.com/currencies (presentment currencies, zero-decimal, special cases, maximum amounts).
 * A currency that Stripe adds later is a dead letter until it stands here.
 */
const TWO_DECIMALS = `
  aed afn all amd ang aoa ars aud awg azn bam bbd bdt bgn bmd bnd bob brl bsd bwp byn bzd cad cdf chf cny cop crc cve
  czk dkk dop dzd egp etb eur fjd fkp gbp gel gip gmd gtq gyd hkd hnl htg huf idr ils inr jmd kes kgs khr kyd kzt lak
  lbp lkr lrd lsl mad mdl mkd mmk mnt mop mur mvr mwk mxn myr mzn nad ngn nio nok npr nzd pab pen pgk php pkr pln qar
  ron rsd rub sar sbd scr sek sgd shp sle sos srd std szl thb tjs top try ttd twd tzs uah usd uyu uzs wst xcd xcg yer
  zar zmw`;
const ZERO_DECIMALS = 'bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf';
/** Zero-decimal by ISO, two-decimal at Stripe: sent × 100, and only whole units. */
const TWO_DECIMALS_WHOLE_UNITS = 'isk ugx';
/** Sent × 1000; the last digit must be 0. */
const THREE_DECIMALS = 'bhd jod kwd omr tnd';

/** Most digits of an amount; 8 for all others. Where Stripe gives no exact figure, its own answer decides. */
const MAX_DIGITS: Readonly<Record<string, number>> = { inr: 9, jpy: 10, cop: 12, huf: 12, idr: 12, lbp: 12 };
const DEFAULT_MAX_DIGITS = 8;

export interface Currency {
  /** Lower-case ISO code. */
  readonly code: string;
  /** How many digits of an amount are behind the decimal point. */
  readonly decimals: 0 | 2 | 3;
  /** An amount must be a multiple of this. */
  readonly multipleOf: 1 | 10 | 100;
  readonly maxDigits: number;
}

const TABLE: ReadonlyMap<string, Currency> = new Map(
  [
    { codes: TWO_DECIMALS, decimals: 2, multipleOf: 1 } as const,
    { codes: ZERO_DECIMALS, decimals: 0, multipleOf: 1 } as const,
    { codes: TWO_DECIMALS_WHOLE_UNITS, decimals: 2, multipleOf: 100 } as const,
    { codes: THREE_DECIMALS, decimals: 3, multipleOf: 10 } as const,
  ].flatMap(({ codes, decimals, multipleOf }) =>
    codes
      .trim()
      .split(/\s+/)
      .map((code): [string, Currency] => [
        code,
        { code, decimals, multipleOf, maxDigits: MAX_DIGITS[code] ?? DEFAULT_MAX_DIGITS },
      ]),
  ),
);

/** Finds a currency by its ISO code in any case; undefined when Stripe does not take it. */
export const findCurrency = (code: string): Currency | undefined =>
  // Not toLowerCase alone: it turns the Kelvin sign into a k.
  /^[A-Za-z]{3}$/.test(code) ? TABLE.get(code.toLowerCase()) : undefined;

/** All codes, sorted. */
export const currencyCodes = (): string[] => [...TABLE.keys()].sort();
