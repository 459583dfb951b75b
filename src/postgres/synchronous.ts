/** Commits that a synchronous standby has to confirm. */
import type pg from 'pg';

/**
 * A record in the write-ahead log: the COMMIT of its transaction is answered when a synchronous standby has everything up
 * to here. For what was seen of a transaction whose process may have been ended while it waited: it is lost with this
 * server all the same.
 */
export const SYNC_POINT = `SELECT pg_catalog.pg_logical_emit_message(true, 'data-platform-service', 'commit in doubt')`;

export interface ReplicationWatch {
  /** PostgreSQL gave up waiting for the standby: the commit was answered, and is lost if this server is. */
  broken(): boolean;
  end(): void;
}

/** The routine that waits: what it says is in the server's language, and its name is not. */
const WAITS = 'SyncRepWaitForLSN';

/**
 * To be ended after the COMMIT. A statement that is cancelled while it waits for the standby (an operator, a limit of time)
 * is answered like any other, with a warning.
 */
export function watchReplication(client: pg.ClientBase): ReplicationWatch {
  let broken = false;
  const onNotice = ({ routine }: { routine?: string | undefined }): void => {
    broken ||= routine === WAITS;
  };
  client.on('notice', onNotice);
  return { broken: () => broken, end: () => void client.removeListener('notice', onNotice) };
}
