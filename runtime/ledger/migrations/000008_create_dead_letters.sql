-- Deliveries that are no event, as they arrived. One for each source position, so that a redelivery adds none.
CREATE TABLE dead_letters (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  source text COLLATE "C" NOT NULL,
  source_position text COLLATE "C" NOT NULL,
  partition_key text NOT NULL,
  body bytea NOT NULL,
  reason text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  resolved_at timestamptz,
  UNIQUE (source, source_position)
)
