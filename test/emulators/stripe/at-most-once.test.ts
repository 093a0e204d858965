import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TEST_KEY } from '../openapi/checked-client';
import { type FaultKind, type FaultPoint, type StripeEmulator, startStripeEmulator } from './index';

/** What one client may do to one intent, with whatever key, under whatever fault. */
const step = fc.record({
  action: fc.constantFrom('confirm', 'confirm', 'confirm', 'cancel', 'update', 'settle', 'complete', 'day'),
  key: fc.constantFrom('a', 'b', ''),
  method: fc.constantFrom(
    'pm_card_visa',
    'pm_card_chargeDeclined',
    'pm_usBankAccount',
    'pm_card_threeDSecure2Required',
  ),
  fault: fc.option(
    fc.record({
      when: fc.constantFrom<FaultPoint>('before-auth', 'before-execute', 'after-execute', 'before-respond'),
      what: fc.constantFrom<FaultKind>('drop', 'error-500', 'html-502', 'truncated-json'),
    }),
  ),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

describe('an intent', () => {
  let emulator: StripeEmulator;

  beforeEach(async () => {
    emulator = await startStripeEmulator();
  });
  afterEach(() => emulator.close());

  const post = async (path: string, form: string, key: string) => {
    const headers: Record<string, string> = {
      authorization: `Bearer ${TEST_KEY}`,
      'content-type': 'application/x-www-form-urlencoded',
    };
    if (key !== '') headers['idempotency-key'] = key;
    const response = await fetch(`${emulator.url}${path}`, { method: 'POST', headers, body: form });
    return response.text();
  };

  const play = async (id: string, run: number, { action, key, method, fault }: Step) => {
    const path = `/v1/payment_intents/${id}`;
    const status = emulator.intent(id).status;
    if (action === 'day') emulator.clock.advance(24 * 3600_000);
    else if (action === 'settle' && status === 'processing') emulator.settleProcessing(id, 'succeeded');
    else if (action === 'complete' && status === 'requires_action') emulator.completeAction(id, 'succeeded');
    else if (action === 'confirm' || action === 'cancel') {
      if (fault !== null) emulator.faults.add({ on: action, ...fault });
      const form = action === 'confirm' ? `payment_method=${method}` : '';
      await post(`${path}/${action}`, form, key === '' ? '' : `${run}-${action}-${key}`).catch(() => '');
      emulator.faults.clear();
    } else await post(path, 'description=x', '');
  };

  it('succeeds at most once in its life, and its status agrees with the books', async () => {
    let run = 0;
    const ends = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
        run += 1;
        const form =
          'amount=100&currency=usd&automatic_payment_methods[enabled]=true&automatic_payment_methods[allow_redirects]=never';
        const { id } = JSON.parse(await post('/v1/payment_intents', form, '')) as { id: string };
        for (const each of steps) await play(id, run, each);
        const charges = emulator.books.charges.filter((charge) => charge.paymentIntentId === id);
        const { status, amount_received } = emulator.intent(id);
        expect([charges.length, amount_received]).toEqual(status === 'succeeded' ? [1, 100] : [0, 0]);
        ends.add(status);
      }),
      { numRuns: 120, seed: 7 },
    );
    // The run was worth something: it came to every kind of end.
    expect([...ends].sort()).toEqual(
      expect.arrayContaining(['canceled', 'processing', 'requires_action', 'requires_payment_method', 'succeeded']),
    );
  });

  it('is charged once by fifty deliveries at once with one key', async () => {
    const form = 'amount=100&currency=usd&payment_method=pm_card_visa&confirm=true&return_url=https://example.com';
    const answers = await Promise.all(Array.from({ length: 50 }, () => post('/v1/payment_intents', form, 'one')));
    expect(emulator.books.charges).toHaveLength(1);
    expect(emulator.requests.filter((request) => request.executed)).toHaveLength(1);
    expect(answers).toHaveLength(50);
  });
});
