/* Commits transactions even if the COMMIT gets no response. */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { ProblemError } from '../kernel/problem.js';
import { isConnectionLoss, unavailableProblem } from './errors.js';
import { type Parameterised, sendBatch } from './exchange.js';
import { TIMELINE } from './hosts/choose-host.js';
import { type Target, withOwnClient } from './client.js';

/* Commits that wait for a synchronous standby. */

/**
 * Writes a WAL record. The COMMIT of its transaction returns when a synchronous standby has all WAL up to here. It
 * covers transactions that were visible although their wait for the standby was cancelled: this server might lose
 * those.
 */
export const SYNC_POINT = `SELECT pg_catalog.pg_logical_emit_message(true, 'data-platform-service', 'commit in doubt')`;

interface ReplicationWatch {
  /** True if PostgreSQL stopped waiting for the standby. The commit succeeded, but is lost if this server is lost. */
  broken(): boolean;
  end(): void;
}

/**
 * The PostgreSQL routine that waits for a standby. Messages are translated to the server's language, but routine names
 * are not.
 */
const WAITS = 'SyncRepWaitForLSN';

/**
 * Watches for the warning that follows a cancelled wait. If an operator or a time limit cancels the wait for the
 * standby, PostgreSQL reports success with a warning. The caller must end the watch after the COMMIT.
 */
export function watchReplication(client: pg.ClientBase): ReplicationWatch {
  let broken = false;
  const onNotice = ({ routine }: { routine?: string | undefined }): void => {
    broken ||= routine === WAITS;
  };
  client.on('notice', onNotice);
  return { broken: () => broken, end: () => void client.removeListener('notice', onNotice) };
}

/** Milliseconds before each check of the outcome. */
const LOOKS = [0, 100, 500, 1_000, 2_000];

/** Milliseconds after which no further check starts, because the caller is waiting. */
const ENOUGH = 5_000;

/** Milliseconds for connecting and for the query of a check. */
const LIMIT = 1_500;

/**
 * Reads the id of a transaction before its COMMIT. It is sent with the last statements. No later statement may write.
 */
export const TRANSACTION_ID: Parameterised = {
  text: `SELECT pg_current_xact_id_if_assigned()::text AS transaction, pg_backend_pid() AS backend, ${TIMELINE} AS timeline`,
};

export interface Transaction {
  /** Null if the transaction has written nothing. */
  transaction: string | null;
  /**
   * The server process and the timeline of the server. On another timeline, the same process ids belong to other
   * processes.
   */
  backend: number;
  timeline: number | null;
}

/**
 * Commits the open transaction of `client`. If there is no answer, it asks the server over another connection. It
 * returns only if the transaction was committed.
 * @throws ProblemError UNAVAILABLE if nothing was written, or if the outcome is unknown, as the message states
 */
export async function commitOrThrow(target: Target, client: pg.ClientBase, transaction?: Transaction): Promise<void> {
  const at = transaction ?? ((await sendBatch(client, [TRANSACTION_ID]))[0]?.rows[0] as unknown as Transaction);
  const replication = watchReplication(client);
  try {
    const { command } = await client.query('COMMIT');
    if (replication.broken()) throw new ProblemError(unknownOutcome());
    // PostgreSQL answers the COMMIT of a failed transaction with ROLLBACK and no error.
    if (command !== 'COMMIT') throw new Error(`COMMIT returned ${command}`);
  } catch (error) {
    if (!isConnectionLoss(error)) throw error;
    if (at.transaction === null) return;
    const committed = await isCommitted(target, at);
    if (committed !== true) throw new ProblemError(committed === false ? notCommitted() : unknownOutcome(), error);
  } finally {
    replication.end();
  }
}

/** @returns undefined if the outcome cannot be determined */
async function isCommitted(target: Target, lost: Transaction): Promise<boolean | undefined> {
  const started = performance.now();
  for (const delay of LOOKS) {
    if (performance.now() - started + delay > ENOUGH) break;
    await sleep(delay);
    const status = await withOwnClient(target, LIMIT, (client) => readStatus(client, lost)).catch(() => undefined);
    if (status === 'committed') return true;
    if (status === 'aborted') return false;
    if (status === 'unknown') return undefined;
  }
  return undefined;
}

/**
 * Returns the status of the transaction. Terminates it if it waits for its lost client. After a failover, its id may
 * belong to another transaction.
 */
async function readStatus(
  client: pg.ClientBase,
  { transaction, backend, timeline }: Transaction,
): Promise<string | null> {
  const { rows } = await client.query<{ status: string | null; timeline: number | null }>(
    `SELECT pg_catalog.pg_xact_status($1::text::xid8) AS status, ${TIMELINE} AS timeline`,
    [transaction],
  );
  if (rows[0]?.timeline !== timeline) return 'unknown';
  const { status } = rows[0];
  if (status === 'committed') await client.query(SYNC_POINT);
  if (status !== 'in progress') return status;
  await client.query(
    `SELECT pg_catalog.pg_terminate_backend(pid) FROM pg_catalog.pg_stat_activity
      WHERE pid = $1 AND backend_xid = $2::text::xid8::xid AND (state LIKE 'idle%' OR wait_event_type = 'Client')`,
    [backend, transaction],
  );
  return status;
}

/** Creates the problem UNAVAILABLE for a lost connection if certainly nothing was written. */
const notCommitted = () =>
  unavailableProblem('The connection to the database was lost before the commit. Nothing was changed.');

/** The first sentence of every problem with an unknown outcome. `npm run chaos` recognizes these problems by it. */
export const OUTCOME_UNKNOWN =
  'The connection to the database was lost during the commit, so it is not known whether the change was committed.';

const unknownOutcome = () => unavailableProblem(`${OUTCOME_UNKNOWN} Check the current state before you send it again.`);
