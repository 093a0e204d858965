/**
 * A redeploy that changes the description template, or a customer who changes the default card, between two attempts:
 * what is sent again is the frozen row, byte for byte. Recomputed parameters under an old key are a 400, and with it an
 * event that nobody can finish.
 */
import { beforeEach, describe, expect, it } from 'vitest';
import { audit } from '../support/audit';
import { API_KEY, type BillingWorld, override, useBillingWorld, type WorkerOptions } from '../support/billing-world';

const open = useBillingWorld();
let world: BillingWorld;
beforeEach(() => {
  world = open();
});

const requestsOf = (operation: 'create' | 'confirm') =>
  world.emulator.requests.filter((request) => request.operation === `payment_intents.${operation}`);

async function changeDefaultCard(method: string): Promise<void> {
  const response = await fetch(`${world.emulator.url}/v1/customers/cus_a`, {
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ 'invoice_settings[default_payment_method]': method }),
  });
  expect(response.status).toBe(200);
}

/** The step fails until its worker has given up; then the template and the default card change, and another takes over. */
async function redeployDuring(step: 'create' | 'confirm', redeployed: WorkerOptions = {}): Promise<void> {
  const event = world.customer('a', 'pm_card_visa');
  const lost = world.emulator.faults.add({ on: step, when: 'before-execute', what: 'drop', times: 999 });
  await world.worker({ describe: 'Usage in October' }).deliver(event);
  expect(lost.hits).toBeGreaterThan(1);
  await changeDefaultCard('pm_card_mastercard');
  world.emulator.faults.clear();
  await world.expireClaims();
  await world.worker({ describe: 'Your usage, in new words', ...redeployed }).deliver(event);
}

/** Sends what it would make of the event today. */
const recomputes: WorkerOptions = {
  stripe: (real) =>
    override(real, {
      createIntent: ((row: Parameters<typeof real.createIntent>[0]) =>
        real.createIntent({ ...row, description: 'Your usage, in new words' })) as typeof real.createIntent,
    }),
};

describe.each(['create', 'confirm'] as const)('a redeploy between two sends of a %s', (step) => {
  it('sends byte-equal requests under one key', async () => {
    await redeployDuring(step);
    expect(requestsOf(step).length).toBeGreaterThan(2);
    expect(new Set(requestsOf(step).map((request) => request.rawBody.toString('latin1'))).size).toBe(1);
    expect(new Set(requestsOf(step).map((request) => request.idempotencyKey)).size).toBe(1);
    const [intent, ...more] = world.emulator.intents();
    expect(more).toEqual([]);
    expect(intent).toMatchObject({ description: 'Usage in October', status: 'succeeded' });
    expect(await audit(world)).toEqual([]);
  });
});

it('the default card is looked up once and frozen', async () => {
  await redeployDuring('confirm');
  const lookups = world.emulator.requests.filter((request) => request.operation === 'customers.retrieve');
  expect(lookups).toHaveLength(1);
});

it('twin: recomputed words are other bytes under the same key', async () => {
  await redeployDuring('create', recomputes);
  expect(new Set(requestsOf('create').map((request) => request.rawBody.toString('latin1'))).size).toBe(2);
  expect(new Set(requestsOf('create').map((request) => request.idempotencyKey)).size).toBe(1);
});
