/**
 * What a worker may do in the ledger: the whole list. Nothing is ever deleted; who is billed, for what and how much is
 * written once. Within a major version the list only grows, and only together with a migration: a release takes grants
 * back that it does not know, unless the schema says that a newer one was here.
 */
interface TableGrant {
  readonly table_name: string;
  readonly privilege: 'SELECT' | 'INSERT' | 'UPDATE';
  /** Absent: the whole table. */
  readonly columns?: readonly string[];
}

export const WORKER_TABLE_GRANTS: readonly TableGrant[] = [
  { table_name: 'ledger_meta', privilege: 'SELECT' },
  { table_name: 'ledger_meta', privilege: 'UPDATE', columns: ['livemode', 'stripe_account'] },
  { table_name: 'billing_records', privilege: 'SELECT' },
  {
    table_name: 'billing_records',
    privilege: 'INSERT',
    columns: [
      ...['customer_id', 'billing_period', 'stripe_customer_id', 'payment_method', 'amount_cents', 'currency'],
      ...['description', 'metadata', 'status', 'idempotency_key', 'claimed_by', 'claim_expires_at', 'source'],
      ...['source_position', 'settled_at'],
    ],
  },
  {
    table_name: 'billing_records',
    privilege: 'UPDATE',
    columns: [
      ...['payment_method', 'status', 'idempotency_key', 'attempt', 'payment_intent_id', 'confirm_started_at'],
      ...['charge_id', 'error', 'decline_code', 'reserved', 'claimed_by', 'claim_expires_at', 'fence', 'settled_at'],
      'updated_at',
    ],
  },
  {
    table_name: 'billing_conflicts',
    privilege: 'INSERT',
    columns: ['customer_id', 'billing_period', 'amount_cents', 'currency', 'source', 'source_position'],
  },
  { table_name: 'spend_caps', privilege: 'SELECT' },
  { table_name: 'spend_caps', privilege: 'INSERT', columns: ['billing_period', 'currency'] },
  {
    table_name: 'spend_caps',
    privilege: 'UPDATE',
    columns: ['limit_cents', 'reserved_cents', 'spent_cents', 'updated_at'],
  },
  { table_name: 'dead_letters', privilege: 'SELECT', columns: ['source', 'source_position'] },
  {
    table_name: 'dead_letters',
    privilege: 'INSERT',
    columns: ['source', 'source_position', 'partition_key', 'body', 'reason'],
  },
];

export const WORKER_FUNCTIONS: readonly string[] = [
  ...['reserve_claimed', 'claim_batch', 'claim_due', 'write_batch', 'freeze_payment_methods', 'save_intents'],
  ...['open_gates', 'drop_intents', 'next_attempts', 'release_claims', 'settle_rows'],
];

/** Tables on which a worker's role may hold nothing but the grants above. */
export const LEDGER_TABLES: readonly string[] = [
  ...['ledger_meta', 'ledger_migrations', 'billing_records', 'billing_conflicts', 'spend_caps', 'dead_letters'],
];
