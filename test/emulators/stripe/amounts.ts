/** What Stripe says about an amount and a currency before any money moves. */
import { invalidRequest } from './errors';

const CURRENCIES = new Set(
  'usd aed afn all amd ang aoa ars aud awg azn bam bbd bdt bgn bhd bif bmd bnd bob brl bsd bwp byn bzd cad cdf chf clp cny cop crc cve czk djf dkk dop dzd egp etb eur fjd fkp gbp gel gip gmd gnf gtq gyd hkd hnl htg huf idr ils inr isk jmd jod jpy kes kgs khr kmf krw kwd kyd kzt lak lbp lkr lrd lsl mad mdl mga mkd mmk mnt mop mur mvr mwk mxn myr mzn nad ngn nio nok npr nzd omr pab pen pgk php pkr pln pyg qar ron rsd rub rwf sar sbd scr sek sgd shp sle sos srd std szl thb tjs tnd top try ttd twd tzs uah ugx uyu uzs vnd vuv wst xaf xcd xof xpf yer zar zmw'.split(
    ' ',
  ),
);

/** Smallest charge in minor units, for an account that settles in the charge's own currency. Others: 1. */
const MINIMUM: Readonly<Record<string, number>> = {
  usd: 50,
  eur: 50,
  aud: 50,
  brl: 50,
  cad: 50,
  chf: 50,
  inr: 50,
  nzd: 50,
  sgd: 50,
  gbp: 30,
  jpy: 50,
  hkd: 400,
  dkk: 250,
  nok: 300,
  sek: 300,
  czk: 1500,
  huf: 17_500,
  mxn: 1000,
  myr: 200,
  aed: 200,
  pln: 200,
  ron: 200,
  bgn: 100,
  thb: 1000,
};

/** Digits of the largest charge. Others: 8. */
const DIGITS: Readonly<Record<string, number>> = { inr: 9, idr: 12, lbp: 10, cop: 10, huf: 10, jpy: 10 };

/** Sent times 100 although nothing below the whole unit exists. */
const WHOLE_UNITS_ONLY = new Set(['isk', 'ugx']);
const THREE_DECIMALS = new Set(['bhd', 'jod', 'kwd', 'omr', 'tnd']);
const ZERO_DECIMALS = new Set('bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf'.split(' '));

/** Throws the 400 that Stripe answers for a currency it does not take. */
export function checkCurrency(currency: string): void {
  if (CURRENCIES.has(currency)) return;
  throw invalidRequest(
    `Invalid currency: ${currency}. Stripe currently supports these currencies: ${[...CURRENCIES].join(', ')}`,
    { param: 'currency' },
  );
}

/** Throws the 400 that Stripe answers for an amount that this currency cannot have. */
export function checkAmount(amount: number, currency: string): void {
  if (amount < 1) {
    throw invalidRequest('This value must be greater than or equal to 1.', {
      code: 'parameter_invalid_integer',
      param: 'amount',
    });
  }
  const largest = 10 ** (DIGITS[currency] ?? 8) - 1;
  if (amount > largest) {
    throw invalidRequest(`Amount must be no more than ${display(largest, currency)}`, {
      code: 'amount_too_large',
      param: 'amount',
    });
  }
  const step = WHOLE_UNITS_ONLY.has(currency) ? 100 : THREE_DECIMALS.has(currency) ? 10 : 1;
  if (amount % step !== 0) {
    throw invalidRequest(`Invalid integer: ${amount}; amounts in ${currency} must be multiples of ${step}`, {
      code: 'parameter_invalid_integer',
      param: 'amount',
    });
  }
  const smallest = MINIMUM[currency] ?? 1;
  if (amount < smallest) {
    throw invalidRequest(`Amount must be at least ${display(smallest, currency)}`, {
      code: 'amount_too_small',
      param: 'amount',
    });
  }
}

/** `$0.50 usd`, `¥50 jpy`: as Stripe writes amounts in its messages. */
function display(amount: number, currency: string): string {
  const decimals = ZERO_DECIMALS.has(currency) ? 0 : THREE_DECIMALS.has(currency) ? 3 : 2;
  const sign = { usd: '$', eur: '€', gbp: '£', jpy: '¥' }[currency] ?? '';
  const figure = (amount / 10 ** decimals).toLocaleString('en-US', {
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  });
  return `${sign}${figure} ${currency}`;
}
