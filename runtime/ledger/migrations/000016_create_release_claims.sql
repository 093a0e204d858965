-- Lets a claim expire now. Fenced, so that nobody else's claim is given away.
CREATE FUNCTION release_claims(p_writes jsonb) RETURNS SETOF integer LANGUAGE sql VOLATILE AS $$
  UPDATE billing_records b SET claim_expires_at = now()
  FROM jsonb_to_recordset(p_writes) AS i(ord integer, op text, customer_id text, billing_period text, fence bigint)
  WHERE i.op = 'release' AND b.customer_id = i.customer_id AND b.billing_period = i.billing_period
    AND b.fence = i.fence AND b.status = 'pending' AND b.claim_expires_at > now()
  RETURNING i.ord
$$
