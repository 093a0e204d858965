-- One for each source position: a redelivery adds none.
INSERT INTO dead_letters (source, source_position, partition_key, body, reason)
SELECT DISTINCT ON (i.source COLLATE "C", i.source_position COLLATE "C") i.*
FROM unnest($1::text[], $2::text[], $3::text[], $4::bytea[], $5::text[])
  AS i(source, source_position, partition_key, body, reason)
ORDER BY i.source COLLATE "C", i.source_position COLLATE "C"
ON CONFLICT (source, source_position) DO NOTHING
