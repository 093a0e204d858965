/** Amounts by currency (three letters), in minor units as Stripe counts them: cents for usd, whole yen for jpy. */
export type AmountsByCurrency = Readonly<Record<string, number>>;

/**
 * Writes caps the way the runtime reads them: `usd:5000000,eur:4000000`, sorted by currency.
 *
 * @throws when there is no currency, a currency is not three letters, or an amount is no positive integer
 */
export function spendCapSetting(amounts: AmountsByCurrency): string {
  const entries = Object.entries(amounts).map(([currency, amount]) => [currency.toLowerCase(), amount] as const);
  if (entries.length === 0) {
    throw new Error('A spend cap names no currency; allowed: one amount or more, as in { usd: 50_000_00 }.');
  }
  const seen = new Set<string>();
  for (const [currency, amount] of entries) {
    if (!/^[a-z]{3}$/.test(currency)) {
      throw new Error(`A spend cap's currency is "${currency}"; allowed: an ISO code of three letters, as in usd.`);
    }
    if (seen.has(currency)) throw new Error(`A spend cap names ${currency} twice; allowed: once.`);
    seen.add(currency);
    if (!Number.isSafeInteger(amount) || amount < 1) {
      throw new Error(
        `The spend cap of ${currency} is ${amount}; allowed: a whole number of minor units from 1, as in 50_000_00.`,
      );
    }
  }
  return entries
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([currency, amount]) => `${currency}:${amount}`)
    .join(',');
}
