/** Whose charge a request at Stripe is, by the ledger. */
import type { Fleet } from './fleet';
import type { Parts } from './sources/parts';
import type { Worker } from './workers';

export interface Claimant {
  readonly paymentIntent: string;
  readonly customerId: string | undefined;
  readonly worker: Worker | undefined;
}

/** `path`: of a request about one payment intent. */
export async function claimant(path: string, parts: Parts, fleet: Fleet): Promise<Claimant> {
  const paymentIntent = /\/payment_intents\/([^/]+)/.exec(path)?.[1] ?? '';
  const client = await parts.ledgerClient();
  try {
    const { rows } = await client.query<{ customer_id: string; claimed_by: string | null }>(
      'SELECT customer_id, claimed_by FROM billing_records WHERE payment_intent_id = $1',
      [paymentIntent],
    );
    const name = rows[0]?.claimed_by?.split('/')[0];
    return {
      paymentIntent,
      customerId: rows[0]?.customer_id,
      worker: fleet.alive.find((worker) => worker.name === name),
    };
  } finally {
    await client.end();
  }
}
