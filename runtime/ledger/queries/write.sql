SELECT ord, record FROM write_batch($1::jsonb)
