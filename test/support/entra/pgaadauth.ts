/**
 * The functions of Azure's extension pgaadauth, as its documentation describes them, for a server that has no such
 * extension. The mapping is kept where Azure keeps it, in the role's security label, so that it goes with the role. A role
 * is made by the provider and not by who calls: that gives the caller no rights on it, which is the stricter reading.
 */
export const PGAADAUTH = `
CREATE FUNCTION pg_catalog.pgaadauth_label(role_name text) RETURNS text
LANGUAGE sql STABLE AS $$
  SELECT l.label FROM pg_shseclabel l JOIN pg_roles r ON r.oid = l.objoid
  WHERE l.classoid = 'pg_authid'::regclass AND l.provider = 'pgaadauth' AND r.rolname = role_name
$$;

CREATE FUNCTION pg_catalog.pgaadauth_list_principals("isAdminValue" boolean)
RETURNS TABLE (rolename name, principaltype text, objectid text, tenantid text, ismfa integer, isadmin integer)
LANGUAGE sql STABLE AS $$
  SELECT r.rolname, 'service', substring(l.label FROM 'oid=([^,]+)'), '', 0, (l.label LIKE '%,admin')::integer
  FROM pg_shseclabel l JOIN pg_roles r ON r.oid = l.objoid
  WHERE l.classoid = 'pg_authid'::regclass AND l.provider = 'pgaadauth'
    AND (NOT "isAdminValue" OR l.label LIKE '%,admin')
$$;

CREATE FUNCTION pg_catalog.pgaadauth_create_principal_with_oid(
  "roleName" text, "objectId" text, "objectType" text, "isAdmin" boolean, "isMfa" boolean) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET allow_system_table_mods = on AS $$
BEGIN
  IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = session_user)
    AND coalesce(pgaadauth_label(session_user), '') NOT LIKE '%,admin' THEN
    RAISE insufficient_privilege USING MESSAGE = 'Only Microsoft Entra administrators can manage principals';
  END IF;
  IF "objectType" <> 'service' OR "objectId" !~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN
    RAISE EXCEPTION 'incorrect object type or id provided for principal: %, %', "objectType", "objectId";
  END IF;
  EXECUTE format('CREATE ROLE %I LOGIN', "roleName");
  IF "isAdmin" THEN
    EXECUTE format('ALTER ROLE %I CREATEROLE CREATEDB; GRANT azure_pg_admin TO %I', "roleName", "roleName");
  END IF;
  INSERT INTO pg_shseclabel (objoid, classoid, provider, label)
  SELECT oid, 'pg_authid'::regclass, 'pgaadauth',
    format('aadauth,oid=%s,type=service%s', "objectId", CASE WHEN "isAdmin" THEN ',admin' ELSE '' END)
  FROM pg_roles WHERE rolname = "roleName";
  RETURN format('Created role for "%s"', "roleName");
END
$$`;
