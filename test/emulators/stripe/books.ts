/** The emulator's own books: each time money moved. The oracle of every test, independent of the runtime's counters. */

export interface Movement {
  readonly chargeId: string;
  /** Of a legacy charge, which has no intent, the charge's own id. */
  readonly paymentIntentId: string;
  readonly account: string;
  readonly livemode: boolean;
  readonly customer: string | null;
  /** Minor units. */
  readonly amount: number;
  readonly currency: string;
  /** Milliseconds on the emulator's clock. */
  readonly at: number;
  readonly metadata: Readonly<Record<string, string>>;
  /** Key of the request that moved the money; null when it was settled later or from outside. */
  readonly idempotencyKey: string | null;
}

export interface DoubleCharge {
  readonly identity: string;
  readonly charges: readonly Movement[];
}

export class Books {
  readonly #charges: Movement[] = [];
  readonly #chargedIntents = new Set<string>();

  /** Every successful charge, oldest first. */
  get charges(): readonly Movement[] {
    return this.#charges;
  }

  /** Enters a successful charge. Throws when the intent has been charged before: Stripe never does that. */
  record(movement: Movement): void {
    if (this.#chargedIntents.has(movement.paymentIntentId)) {
      throw new Error(`books: ${movement.paymentIntentId} would be charged twice; an intent succeeds at most once`);
    }
    this.#chargedIntents.add(movement.paymentIntentId);
    this.#charges.push(Object.freeze({ ...movement, metadata: Object.freeze({ ...movement.metadata }) }));
  }

  /**
   * Identities that were charged more than once. Default identity: mode, customer (metadata `customer_id`, else
   * the Stripe customer), period and purpose (metadata `billing_period` or `period`, `purpose`); without a period
   * `billing_key`, else the customer alone.
   */
  doubleCharged(identityOf: (charge: Movement) => string = billingIdentity): DoubleCharge[] {
    const groups = new Map<string, Movement[]>();
    for (const charge of this.#charges) {
      const identity = identityOf(charge);
      groups.set(identity, [...(groups.get(identity) ?? []), charge]);
    }
    return [...groups]
      .filter(([, charges]) => charges.length > 1)
      .map(([identity, charges]) => ({ identity, charges }));
  }

  /** Sum of the successful charges of a currency, in minor units. */
  total(currency: string): number {
    return this.#charges.reduce((sum, charge) => (charge.currency === currency ? sum + charge.amount : sum), 0);
  }

  chargesOf(customer: string): Movement[] {
    return this.#charges.filter((charge) => charge.customer === customer);
  }
}

/** Customer and period decide, not the key that the charger chose: a key that differs must not hide a double. */
export function billingIdentity(charge: Movement): string {
  const { metadata } = charge;
  const scope = `${charge.account} ${charge.livemode ? 'live' : 'test'}`;
  const period = metadata.billing_period ?? metadata.period;
  const customer = metadata.customer_id ?? charge.customer ?? '';
  if (period !== undefined) return `${scope} ${customer} ${period} ${metadata.purpose ?? ''}`.trim();
  return `${scope} ${metadata.billing_key ?? customer}`;
}
