/** A JSON number as it was written: nothing is rounded before it was looked at. */
export class JsonNumber {
  constructor(readonly text: string) {}
}

export type ReadInteger =
  | { readonly kind: 'integer'; readonly value: number }
  /** It has a part behind the decimal point that is not zero. */
  | { readonly kind: 'fraction' }
  /** An integer outside ±(2^53 − 1). */
  | { readonly kind: 'beyond' };

const PARTS = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
const SAFE_DIGITS = 16;

function withoutZerosAtTheEnd(digits: string): string {
  let end = digits.length;
  // A loop, since /0+$/ takes quadratic time on a long run of zeros that is not at the end.
  while (end > 0 && digits[end - 1] === '0') end--;
  return digits.slice(0, end);
}

/**
 * The integer that a JSON number is, by arithmetic on its digits: `1e3` and `80.0` are integers, `1e-1` is not.
 * A huge exponent costs nothing.
 */
export function readInteger(number: JsonNumber): ReadInteger {
  const [, sign, whole = '', fraction = '', exponent = '0'] = PARTS.exec(number.text) ?? [];
  if (whole === '') return { kind: 'fraction' };
  const all = `${whole}${fraction}`;
  const digits = withoutZerosAtTheEnd(all);
  const significant = digits.replace(/^0+/, '');
  if (significant === '') return { kind: 'integer', value: 0 };
  const zeros = Number(exponent) - fraction.length + (all.length - digits.length);
  if (zeros < 0) return { kind: 'fraction' };
  if (significant.length + zeros > SAFE_DIGITS) return { kind: 'beyond' };
  const value = Number(`${sign}${significant}${'0'.repeat(zeros)}`);
  return Number.isSafeInteger(value) ? { kind: 'integer', value } : { kind: 'beyond' };
}
