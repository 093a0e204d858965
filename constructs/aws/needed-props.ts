import { wrongProp } from '../shared/check';

/** What is allowed for a prop, and what to do. */
type Needed = readonly [allowed: string, wayOut: string];

const PROPS = {
  vpc: ['a VPC', 'The database is made in it, and reached from it only.'],
  stream: ['a BillingStream', 'A consumer reads it. KinesisBilling makes one.'],
  leaseTable: ['a LeaseTable', 'Workers share the stream’s shards by it. KinesisBilling makes one.'],
  ledger: ['a LedgerDatabase', 'It remembers who was charged. KinesisBilling makes one.'],
  stripeKey: [
    'a secret of AWS Secrets Manager with a restricted key (rk_…)',
    'Secret.fromSecretNameV2 finds one by its name.',
  ],
  spendCap: [
    'SpendCap.perPeriod({ usd: 50_000_00 }), or SpendCap.off()',
    'There is no default: say the most that a billing period may cost, or that nothing caps it.',
  ],
  consumer: ['a BillingConsumer', 'Its workers are what is watched.'],
} as const satisfies Record<string, Needed>;

/**
 * Types ask for these, but a program can be plain JavaScript or have a `!` too many.
 *
 * @throws when one is not given: all of them in one error
 */
export function checkNeeded(path: string, props: unknown, needed: readonly (keyof typeof PROPS)[]): void {
  const given = { ...(props as Readonly<Record<string, unknown>> | undefined) };
  const missing = needed.filter((prop) => given[prop] === undefined || given[prop] === null);
  if (missing.length === 0) return;
  const lines = missing.map((prop) => {
    const [allowed, wayOut] = PROPS[prop];
    return wrongProp({ path, prop, received: 'not given', allowed, wayOut }).message;
  });
  throw new Error(lines.join('\n'));
}
