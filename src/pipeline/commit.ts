/** The end of a command's transaction, and finding out how it ended when nobody said. */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { advisoryKey } from '../postgres/advisory.js';
import { isConnectionLoss, unavailable } from '../postgres/errors.js';
import { type Parameterised, sendBatch } from '../postgres/exchange.js';
import { withClient } from '../postgres/pool.js';
import type { Problem } from '../schema/problem.js';
import { within } from './deadline.js';
import type { PipelineOptions } from './types.js';

/** The connection was lost after the COMMIT may have been sent. */
export class UnknownOutcomeError extends Error {
  override readonly name = 'UnknownOutcomeError';
}

/** Beyond the limit of each statement: flushing, waiting for a standby, the way back. */
const GRACE = 60_000;

/**
 * Sends the last statements with the COMMIT behind them, as one flight: after an error the server doesn't reach it.
 * @throws UnknownOutcomeError
 */
export async function commit(
  client: pg.ClientBase,
  statements: readonly Parameterised[],
  { statementTimeout }: Pick<PipelineOptions, 'statementTimeout'>,
): Promise<void> {
  const flight = sendBatch(client, [...statements, { text: 'COMMIT' }]);
  try {
    const results = await (statementTimeout === 0 ? flight : within(client, flight, statementTimeout + GRACE));
    // A transaction that had failed before would be answered ROLLBACK, and without an error.
    if (results.at(-1)?.command !== 'COMMIT') throw new Error(`COMMIT was answered ${results.at(-1)?.command}`);
  } catch (error) {
    if (isConnectionLoss(error))
      throw new UnknownOutcomeError('the connection was lost during COMMIT', { cause: error });
    throw error;
  }
}

/** Milliseconds before each look. */
const LOOKS = [0, 100, 500, 1_000, 2_000, 4_000];

/**
 * Whether a batch is in the log. The transaction may still be running in a server process that hasn't noticed our
 * absence; it holds the log's lock, so with the lock in our hands it has ended one way or the other.
 * @returns undefined when it can't be found out
 */
export async function isCommitted(batch: string, options: PipelineOptions): Promise<boolean | undefined> {
  for (const delay of LOOKS) {
    await sleep(delay);
    try {
      return await withClient(options.pool, (client) => look(client, batch, options));
    } catch (error) {
      options.logger.warn('the outcome of a commit could not be read yet', { batch, error: (error as Error).message });
    }
  }
  return undefined;
}

async function look(client: pg.ClientBase, batch: string, { place, lockTimeout }: PipelineOptions): Promise<boolean> {
  const flight = sendBatch(client, [
    { text: 'BEGIN' },
    { text: `SELECT set_config('lock_timeout', $1, true)`, values: [String(lockTimeout)] },
    { text: 'SELECT pg_advisory_xact_lock($1)', values: [advisoryKey(place, 'log')] },
    { text: 'SELECT FROM service_events WHERE batch = $1 LIMIT 1', values: [batch] },
    { text: 'COMMIT' },
  ]);
  const results = await within(client, flight, lockTimeout + GRACE);
  return results[3]?.rows.length === 1;
}

export function outcomeUnknown(hasKey: boolean): Problem {
  const advice = hasKey
    ? 'Send the request again with the same Idempotency-Key: it is done once at most.'
    : 'Look at the schema before you send it again, or send such requests with an Idempotency-Key.';
  return unavailable(
    `The database went away while the change was being committed, and whether it was is unknown. ${advice}`,
  );
}
