SELECT count(DISTINCT proname) = 2 AS present
FROM pg_proc WHERE proname IN ('pgaadauth_create_principal_with_oid', 'pgaadauth_list_principals')
