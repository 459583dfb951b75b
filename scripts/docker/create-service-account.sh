#!/usr/bin/env bash
# Run once by the PostgreSQL image, as the superuser, when its volume is empty: the account that the service works as,
# and its database. It is no superuser; extensions that PostgreSQL does not trust are added by the superuser alone:
#   docker compose exec postgres psql --username=postgres dps -c 'CREATE EXTENSION postgis'
set -euo pipefail

# A here-document's variables are psql's own, so that no password is ever part of a statement's text.
psql --no-psqlrc --set=ON_ERROR_STOP=1 --set=password="$SERVICE_PASSWORD" --username=postgres <<'SQL'
CREATE ROLE dps LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD :'password';
CREATE DATABASE dps OWNER dps;
SQL

# Only for a standby (docker compose --profile standby): who may copy the whole server, and follow it.
if [[ -n "${REPLICATION_PASSWORD:-}" ]]; then
  psql --no-psqlrc --set=ON_ERROR_STOP=1 --set=password="$REPLICATION_PASSWORD" --username=postgres <<'SQL'
CREATE ROLE replicator LOGIN REPLICATION PASSWORD :'password';
SQL
  echo 'host replication replicator samenet scram-sha-256' >>"$PGDATA/pg_hba.conf"
fi
