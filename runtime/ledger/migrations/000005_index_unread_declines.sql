CREATE INDEX billing_records_unread_declines ON billing_records (updated_at)
  WHERE status IN ('card_declined', 'rejected') AND payment_intent_id IS NOT NULL AND settled_at IS NULL
