#!/usr/bin/env bash
# The PostgreSQL image runs this once, as the superuser, when its volume is empty. It creates the account of the service
# and its database. The account is no superuser. Only the superuser can add extensions that PostgreSQL does not trust:
#   docker compose exec postgres psql --username=postgres dps -c 'CREATE EXTENSION postgis'
set -euo pipefail

# psql reads the passwords itself, so that they never appear in the process list.
psql --no-psqlrc --set=ON_ERROR_STOP=1 --username=postgres <<'SQL'
\set password `cat /run/secrets/service_password`
CREATE ROLE dps LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD :'password';
CREATE DATABASE dps OWNER dps;
SQL

# Used by a standby only (docker compose --profile standby): the role that copies the whole server and follows it.
psql --no-psqlrc --set=ON_ERROR_STOP=1 --username=postgres <<'SQL'
\set password `cat /run/secrets/replication_password`
CREATE ROLE replicator LOGIN REPLICATION PASSWORD :'password';
SQL
echo 'host replication replicator samenet scram-sha-256' >>"$PGDATA/pg_hba.conf"
