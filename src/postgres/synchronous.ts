/** Commits that wait for a synchronous standby. */
import type pg from 'pg';

/**
 * Writes a WAL record. The COMMIT of its transaction returns when a synchronous standby has all WAL up to here. It
 * covers transactions that were visible although their wait for the standby was cancelled: this server might lose
 * those.
 */
export const SYNC_POINT = `SELECT pg_catalog.pg_logical_emit_message(true, 'data-platform-service', 'commit in doubt')`;

export interface ReplicationWatch {
  /** True if PostgreSQL stopped waiting for the standby. The commit succeeded, but is lost if this server is. */
  broken(): boolean;
  end(): void;
}

/** The waiting routine. Messages are in the server's language, but the routine name is not. */
const WAITS = 'SyncRepWaitForLSN';

/**
 * End it after the COMMIT. If an operator or a time limit cancels the wait for the standby, PostgreSQL reports success
 * with a warning.
 */
export function watchReplication(client: pg.ClientBase): ReplicationWatch {
  let broken = false;
  const onNotice = ({ routine }: { routine?: string | undefined }): void => {
    broken ||= routine === WAITS;
  };
  client.on('notice', onNotice);
  return { broken: () => broken, end: () => void client.removeListener('notice', onNotice) };
}
