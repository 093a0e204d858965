/** An environment that `consume` starts with. */
export const GOOD = {
  DATABASE_URL: 'postgres://worker:hunter2@db.internal:5432/ledger',
  STRIPE_API_KEY: 'rk_test_abc123',
  SPEND_CAP_MODE: 'ledger',
  SPEND_CAP_DEFAULT: 'usd:5000000,EUR:4500000',
  STREAM_NAME: 'usage',
  LEASE_TABLE_NAME: 'leases',
  AWS_REGION: 'eu-west-1',
} as const;

type Environment = Record<string, string | undefined>;

/** The good environment with changes; `undefined` takes a variable away. */
export function environment(changes: Environment = {}): Environment {
  return { ...GOOD, ...changes };
}
