#!/usr/bin/env bash
# The start of a standby in the PostgreSQL image: on an empty volume the files of the primary are copied first.
set -euo pipefail

if [[ ! -s "$PGDATA/PG_VERSION" ]]; then
  install --directory --owner=postgres --group=postgres --mode=700 "$PGDATA"
  # The password is in PGPASSWORD, and is kept in the standby's own configuration.
  gosu postgres pg_basebackup --pgdata="$PGDATA" --host=postgres --username=replicator --write-recovery-conf \
    --wal-method=stream --checkpoint=fast
fi
exec docker-entrypoint.sh "$@"
