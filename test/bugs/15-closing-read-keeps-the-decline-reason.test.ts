/** A decline is read once more and closed; the reason it was declined for must still stand in the row afterwards. */
import { expect, it } from 'vitest';
import { useBillingWorld } from '../support/billing-world';

const world = useBillingWorld();

it('keeps error and decline code when a declined row is closed', async () => {
  const { worker, customer, row, makeDue } = world();
  const w = worker();
  await w.deliver(customer('a', 'pm_card_visa_chargeDeclinedInsufficientFunds'));
  const declined = await row('a');
  expect(declined).toMatchObject({ status: 'card_declined', decline_code: 'insufficient_funds' });

  await makeDue();
  expect(await w.reconcile()).toBe(1);

  const { error, decline_code } = declined;
  expect(error).not.toBeNull();
  expect(await row('a')).toMatchObject({ status: 'card_declined', claimed: false, error, decline_code });
});
