#!/usr/bin/env bash
# PgBouncer in transaction mode with its defaults, in front of the service "postgres", for the account "dps".
set -euo pipefail
cd /run/dps-pgbouncer
umask 077
printf '"dps" "%s"\n' "$(cat /run/secrets/service_password)" > users.txt
cat > pgbouncer.ini <<'INI'
[databases]
dps = host=postgres port=5432
[pgbouncer]
listen_addr = *
listen_port = 5432
unix_socket_dir =
pool_mode = transaction
auth_type = scram-sha-256
auth_file = /run/dps-pgbouncer/users.txt
INI
exec pgbouncer pgbouncer.ini
