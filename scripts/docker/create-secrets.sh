#!/usr/bin/env bash
# Writes the secrets that docker-compose.yml and deploy/compose mount, one file each, into ./secrets. Files that exist are kept.
# The directory can be entered by you alone. The files are readable because containers read them as other users.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

directory=secrets
mkdir -p "$directory"
chmod 700 "$directory"

# create NAME TEXT: an existing secret is never replaced, because the database may use it already.
create() {
  [ -s "$directory/$1" ] || printf '%s' "$2" > "$directory/$1"
  chmod 444 "$directory/$1"
}
random() { od -An -N24 -tx1 /dev/urandom | tr -d ' \n'; }

for name in postgres_password service_password replication_password admin_password admin_token postgrest_password \
  postgrest_jwt_secret; do
  create "$name" "$(random)"
done
password=$(cat "$directory/service_password")
for host in postgres pgbouncer postgres-standby; do
  create "database_url_$host" "postgresql://dps:$password@$host:5432/dps"
done
create postgrest_database_url "postgresql://postgrest:$(cat "$directory/postgrest_password")@postgres:5432/dps"
echo "The secrets are in $directory/. The admin's token is in $directory/admin_token."
