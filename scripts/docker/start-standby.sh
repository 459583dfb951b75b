#!/usr/bin/env bash
# Starts a standby in the PostgreSQL image. On an empty volume it copies the files of the primary first.
set -euo pipefail

if [[ ! -s "$PGDATA/PG_VERSION" ]]; then
  install --directory --owner=postgres --group=postgres --mode=700 "$PGDATA"
  # pg_basebackup writes the password into the standby's own configuration.
  PGPASSWORD=$(cat /run/secrets/replication_password)
  export PGPASSWORD
  gosu postgres pg_basebackup --pgdata="$PGDATA" --host=postgres --username=replicator --write-recovery-conf \
    --wal-method=stream --checkpoint=fast
fi
exec docker-entrypoint.sh "$@"
