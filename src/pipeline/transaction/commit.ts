/** The end of a command's transaction. */
import type pg from 'pg';
import { isConnectionLoss } from '../../postgres/errors.js';
import { type Parameterised, sendBatch } from '../../postgres/exchange.js';
import { watchReplication } from '../../postgres/synchronous.js';

/** The connection was lost after the COMMIT may have been sent, or the commit isn't known to last. */
export class UnknownOutcomeError extends Error {
  override readonly name = 'UnknownOutcomeError';
}

/**
 * Sends the last statements with the COMMIT behind them, as one flight: after an error the server doesn't reach it.
 * @throws UnknownOutcomeError
 */
export async function commit(client: pg.ClientBase, statements: readonly Parameterised[]): Promise<void> {
  const replication = watchReplication(client);
  try {
    const results = await sendBatch(client, [...statements, { text: 'COMMIT' }]);
    if (replication.broken()) throw new UnknownOutcomeError('the wait for the synchronous standby was broken off');
    // A transaction that had failed before would be answered ROLLBACK, and without an error.
    if (results.at(-1)?.command !== 'COMMIT') throw new Error(`COMMIT was answered ${results.at(-1)?.command}`);
  } catch (error) {
    if (isConnectionLoss(error))
      throw new UnknownOutcomeError('the connection was lost during COMMIT', { cause: error });
    throw error;
  } finally {
    replication.end();
  }
}
