/** Transactions whose COMMIT may stay without an answer. */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { ProblemError } from '../kernel/problem.js';
import { isConnectionLoss, unavailable } from './errors.js';
import { type Parameterised, sendBatch } from './exchange.js';
import { TIMELINE } from './hosts/timeline.js';
import { type Target, withOwnClient } from './own-client.js';
import { SYNC_POINT, watchReplication } from './synchronous.js';

/** Milliseconds before each look at what became of it. */
const LOOKS = [0, 100, 500, 1_000, 2_000];

/** Milliseconds after which there are no further looks: the caller is waiting. */
const ENOUGH = 5_000;

/** Milliseconds that a look may take for each of connecting and asking. */
const LIMIT = 1_500;

/** Goes along with the last statements of a transaction; none of them may write after it. */
export const TRANSACTION_ID: Parameterised = {
  text: `SELECT pg_current_xact_id_if_assigned()::text AS transaction, pg_backend_pid() AS backend, ${TIMELINE} AS timeline`,
};

export interface Transaction {
  /** Null: it has written nothing. */
  transaction: string | null;
  /** The process of the server that runs it, and the server's timeline: on another one the numbers are others'. */
  backend: number;
  timeline: number | null;
}

/**
 * Commits the transaction that is open on `client`. Where the answer stays away the server is asked over another
 * connection, so it returns only when the transaction was committed, and the rest of its work is valid then.
 * @throws ProblemError UNAVAILABLE: nothing was written, or it can't be found out and the message says so
 */
export async function commitSurely(target: Target, client: pg.ClientBase, known?: Transaction): Promise<void> {
  const at = known ?? ((await sendBatch(client, [TRANSACTION_ID]))[0]?.rows[0] as unknown as Transaction);
  const replication = watchReplication(client);
  try {
    const { command } = await client.query('COMMIT');
    if (replication.broken()) throw new ProblemError(unknownOutcome());
    // A transaction that had failed before is answered ROLLBACK, and without an error.
    if (command !== 'COMMIT') throw new Error(`COMMIT was answered ${command}`);
  } catch (error) {
    if (!isConnectionLoss(error)) throw error;
    if (at.transaction === null) return;
    const committed = await isCommitted(target, at);
    if (committed !== true) throw new ProblemError(committed === false ? notCommitted() : unknownOutcome(), error);
  } finally {
    replication.end();
  }
}

/** @returns undefined when it can't be found out */
async function isCommitted(target: Target, lost: Transaction): Promise<boolean | undefined> {
  const started = performance.now();
  for (const delay of LOOKS) {
    if (performance.now() - started + delay > ENOUGH) break;
    await sleep(delay);
    const status = await withOwnClient(target, LIMIT, (client) => look(client, lost)).catch(() => undefined);
    if (status === 'committed') return true;
    if (status === 'aborted') return false;
    if (status === 'unknown') return undefined;
  }
  return undefined;
}

/**
 * The status of the transaction. One that waits for its client, who doesn't listen any more, is ended. After a failover its
 * number may be another one's.
 */
async function look(client: pg.ClientBase, { transaction, backend, timeline }: Transaction): Promise<string | null> {
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

/** UNAVAILABLE, for a connection that was lost where it is certain that nothing was written. */
export const notCommitted = () =>
  unavailable('The connection to the database was lost before the change was committed; nothing was written.');

const unknownOutcome = () =>
  unavailable(
    'The connection to the database was lost while the change was being committed, and whether it was is unknown. ' +
      'Look at what is there before you send it again.',
  );
