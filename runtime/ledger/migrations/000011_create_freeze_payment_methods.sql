-- R15: fenced, and only once; the same method again is a success.
CREATE FUNCTION freeze_payment_methods(p_writes jsonb) RETURNS SETOF integer LANGUAGE sql VOLATILE AS $$
  UPDATE billing_records b SET payment_method = i.payment_method, updated_at = now()
  FROM jsonb_to_recordset(p_writes) AS i(ord integer, op text, customer_id text, billing_period text, fence bigint,
    attempt integer, payment_method text)
  WHERE i.op = 'freeze_payment_method' AND b.customer_id = i.customer_id AND b.billing_period = i.billing_period
    AND b.fence = i.fence AND b.attempt = i.attempt AND b.status = 'pending'
    AND (b.payment_method IS NULL OR b.payment_method = i.payment_method)
  RETURNING i.ord
$$
