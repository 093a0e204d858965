/** JPY 80 is 80, not 8000; ISK and UGX follow Stripe (× 100, whole units), not ISO. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDecoder } from '../../runtime/decode';
import { json, type ScriptedServer, startScriptedServer } from '../support/scripted-http';
import { intent, row, stripeFor } from '../unit/stripe/fixtures';

let server: ScriptedServer;
beforeAll(async () => {
  server = await startScriptedServer();
});
afterAll(() => server.stop());

const decode = createDecoder({ defaultCurrency: 'usd' });
const event = (amount: number | string, currency: string) =>
  decode(
    Buffer.from(
      `{"customer_id":"c","billing_period":"2026-10","stripe_customer_id":"cus_42",` +
        `"amount_cents":${amount},"currency":"${currency}"}`,
    ),
  );

it.each([
  [80, 'JPY'],
  [8000, 'ISK'],
  [8100, 'UGX'],
  [80, 'KRW'],
  [80, 'USD'],
  [1230, 'KWD'],
  [81, 'HUF'],
  [81, 'TWD'],
])('%i %s is sent as it is', async (amount, currency) => {
  const decoded = event(amount, currency);
  if (!decoded.ok) throw new Error(decoded.reason);
  const { amountCents, currency: code } = decoded.event;
  server.clear();
  server.script(json(200, intent({ amount, currency: code })));
  const answer = await stripeFor(server).createIntent(row({ amountCents, currency: code }));
  expect(answer).toMatchObject({ kind: 'intent' });
  const sent = new URLSearchParams(server.seen[0]?.body);
  expect([sent.get('amount'), sent.get('currency')]).toEqual([String(amount), currency.toLowerCase()]);
});

it.each([
  [80, 'ISK', 'multiple of 100'],
  [8050, 'UGX', 'multiple of 100'],
  [1234, 'KWD', 'multiple of 10'],
  [80.5, 'JPY', 'fraction'],
])('%d %s is a dead letter', (amount, currency, reason) => {
  expect(event(amount, currency)).toMatchObject({ ok: false, reason: expect.stringContaining(reason) });
});
