-- Whom the role is mapped to. The columns are named here: their names have changed over the years.
SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1::text) AS present,
  (SELECT object_id FROM pg_catalog.pgaadauth_list_principals(false)
      AS p(role_name, principal_type, object_id, tenant_id, is_mfa, is_admin)
    WHERE role_name = $1::text) AS object_id
