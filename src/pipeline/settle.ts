/** Finding out how a transaction ended when nobody said. */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { advisoryKey } from '../postgres/advisory.js';
import { SQLSTATE, sqlState, unavailable } from '../postgres/errors.js';
import { sendBatch } from '../postgres/exchange.js';
import { withClient } from '../postgres/pool.js';
import type { Problem } from '../schema/problem.js';
import { within } from './deadline.js';
import type { PipelineOptions } from './types.js';

/** A transaction whose COMMIT was sent and never answered. */
export interface Unanswered {
  /** Its batch. */
  batch: string;
  /** The process of the server that ran it. */
  backend: number | undefined;
}

/** Milliseconds before each look. */
const LOOKS = [0, 100, 500, 1_000, 2_000, 4_000];

/** Milliseconds that a look waits for the lock, at most: the caller is waiting too. */
const PATIENCE = 5_000;

/** Beyond that, how long an answer may be on its way. */
const GRACE = 5_000;

/**
 * Whether a batch is in the log. Its transaction may still be running in a server process that hasn't noticed our
 * absence; it holds the log's lock, so with the lock in our hands it has ended one way or the other. Where it doesn't
 * end by itself it is ended: it would keep everybody from writing.
 * @returns undefined when it can't be found out
 */
export async function isCommitted(lost: Unanswered, options: PipelineOptions): Promise<boolean | undefined> {
  for (const delay of LOOKS) {
    await sleep(delay);
    try {
      return await withClient(options.pool, (client) => look(client, lost, options));
    } catch (error) {
      const { message } = error as Error;
      options.logger.warn('the outcome of a commit could not be read yet', { batch: lost.batch, error: message });
    }
  }
  return undefined;
}

async function look(client: pg.ClientBase, lost: Unanswered, options: PipelineOptions): Promise<boolean> {
  const key = advisoryKey(options.place, 'log');
  const patience = Math.min(options.lockTimeout, PATIENCE);
  const flight = sendBatch(client, [
    { text: 'BEGIN' },
    { text: `SELECT set_config('lock_timeout', $1, true)`, values: [patience] },
    { text: 'SELECT pg_advisory_xact_lock($1)', values: [key] },
    { text: 'SELECT FROM service_events WHERE batch = $1 LIMIT 1', values: [lost.batch] },
    { text: 'COMMIT' },
  ]);
  try {
    const results = await within(client, flight, patience + GRACE);
    return results[3]?.rows.length === 1;
  } catch (error) {
    if (sqlState(error) === SQLSTATE.lock_not_available) await endHolder(client, lost, key);
    throw error;
  }
}

/** Ends the lost transaction's process, and only while it is that one which holds the lock. */
async function endHolder(client: pg.ClientBase, { backend }: Unanswered, key: string): Promise<void> {
  const statement = {
    text: `SELECT pg_terminate_backend(pid) FROM pg_locks
            WHERE locktype = 'advisory' AND granted AND pid = $1
              AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
              AND (classid::bigint << 32 | objid::bigint) = $2::bigint AND objsubid = 1`,
    values: [backend ?? null, key],
  };
  await within(client, sendBatch(client, [{ text: 'ROLLBACK' }, statement]), GRACE);
}

export function outcomeUnknown(hasKey: boolean): Problem {
  const advice = hasKey
    ? 'Send the request again with the same Idempotency-Key: it is done once at most.'
    : 'Look at the schema before you send it again, or send such requests with an Idempotency-Key.';
  return unavailable(
    `The database went away while the change was being committed, and whether it was is unknown. ${advice}`,
  );
}
