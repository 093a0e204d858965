CREATE INDEX billing_records_waiting ON billing_records (updated_at) WHERE status IN ('processing', 'action_required')
