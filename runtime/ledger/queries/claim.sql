SELECT * FROM claim_batch($1::text, $2::bigint, $3::boolean, $4::text[], $5::bigint[],
  $6::text[], $7::text[], $8::text[], $9::text[], $10::bigint[], $11::text[], $12::text[], $13::text[], $14::text[],
  $15::text[], $16::text[])
