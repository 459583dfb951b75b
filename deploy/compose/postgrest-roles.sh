#!/usr/bin/env bash
# Creates the roles of PostgREST. The PostgreSQL image runs it when its volume is empty. On an existing volume, run it
# once yourself: docker compose exec postgres /docker-entrypoint-initdb.d/postgrest-roles.sh
set -euo pipefail

# psql reads the password itself, so that it never appears in the process list.
psql --no-psqlrc --set=ON_ERROR_STOP=1 --username=postgres --dbname=dps <<'SQL'
\set password `cat /run/secrets/postgrest_password`
-- PostgREST connects as "postgrest", which has no privileges. It switches to the role of each request.
CREATE ROLE postgrest LOGIN NOINHERIT NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION PASSWORD :'password';
-- The role of requests without a token. It reads every table that the service creates.
CREATE ROLE web_anon NOLOGIN;
GRANT web_anon TO postgrest;
GRANT USAGE ON SCHEMA public TO web_anon;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO web_anon;
ALTER DEFAULT PRIVILEGES FOR ROLE dps IN SCHEMA public GRANT SELECT ON TABLES TO web_anon;
SQL
