const LONGEST = 300;

/**
 * Text from outside, fit for logs and for the ledger: no API key, nothing that looks like a card number, one line,
 * at most 300 characters.
 */
export function scrub(text: string): string {
  const clean = text
    .slice(0, 4 * LONGEST)
    .replace(/\b(sk|rk|pk|whsec)_[A-Za-z0-9_*]+/g, '$1_[hidden]')
    .replace(/\b(Bearer|Basic)\s+\S+/gi, '$1 [hidden]')
    .replace(/\b\d(?:[ -]?\d){12,18}\b/g, '[digits hidden]')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is taken out
    .replace(/[\u0000-\u001f\u007f\s]+/g, ' ')
    .trim();
  return clean.length > LONGEST ? `${clean.slice(0, LONGEST - 1)}…` : clean;
}
