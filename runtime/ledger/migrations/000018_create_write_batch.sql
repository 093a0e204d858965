-- Writes of one row each, of any kind, in one round trip: at most one for a row. First all rows are locked in order;
-- each function then takes a new snapshot, so it sees them as they are and waits for nobody but the caps.
-- The planner is kept to index lookups: a plan made while the table was small is cached by the connection.
-- A lock is waited for less long than the worker waits for an answer: a statement that it gave up must not stay behind.
-- Answers the input of each write whose row was as expected, with the row as it is then where the writer goes on with it.
CREATE FUNCTION write_batch(p_writes jsonb) RETURNS TABLE (ord integer, record jsonb) LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET lock_timeout = '5s' AS $$
#variable_conflict use_column
DECLARE
  moved integer[];
BEGIN
  PERFORM FROM billing_records b
  JOIN jsonb_to_recordset(p_writes) AS i(customer_id text, billing_period text) USING (customer_id, billing_period)
  ORDER BY b.customer_id COLLATE "C", b.billing_period COLLATE "C"
  FOR UPDATE OF b;

  RETURN QUERY SELECT freeze_payment_methods(p_writes), NULL::jsonb;
  RETURN QUERY SELECT save_intents(p_writes), NULL::jsonb;
  RETURN QUERY SELECT open_gates(p_writes), NULL::jsonb;
  RETURN QUERY SELECT release_claims(p_writes), NULL::jsonb;
  moved := ARRAY(SELECT drop_intents(p_writes) UNION ALL SELECT next_attempts(p_writes));
  RETURN QUERY
  SELECT i.ord, jsonb_build_object('customer_id', b.customer_id, 'billing_period', b.billing_period,
    'stripe_customer_id', b.stripe_customer_id, 'payment_method', b.payment_method,
    'amount_cents', b.amount_cents::text, 'currency', b.currency, 'description', b.description,
    'metadata', b.metadata, 'status', b.status, 'idempotency_key', b.idempotency_key, 'attempt', b.attempt,
    'payment_intent_id', b.payment_intent_id, 'confirm_started', b.confirm_started_at IS NOT NULL,
    'reserved', b.reserved, 'fence', b.fence::text)
  FROM jsonb_to_recordset(p_writes) AS i(ord integer, customer_id text, billing_period text)
  JOIN billing_records b USING (customer_id, billing_period)
  WHERE i.ord = ANY (moved);
  RETURN QUERY SELECT settle_rows(p_writes), NULL::jsonb;
END $$
