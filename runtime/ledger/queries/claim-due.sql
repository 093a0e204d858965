SELECT customer_id, billing_period, stripe_customer_id, payment_method, amount_cents, currency, description, metadata,
  status, idempotency_key, attempt, payment_intent_id, confirm_started_at IS NOT NULL AS confirm_started, reserved, fence
FROM claim_due($1::text, $2::bigint, $3::integer, $4::bigint, $5::bigint, $6::bigint)
