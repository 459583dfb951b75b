/** Ends the transaction of a command. */
import type pg from 'pg';
import { isConnectionLoss } from '../../postgres/errors.js';
import { type Parameterised, sendBatch } from '../../postgres/exchange.js';
import { watchReplication } from '../../postgres/synchronous.js';

/** The connection was lost after COMMIT may have been sent, or the commit may not be durable. */
export class UnknownOutcomeError extends Error {
  override readonly name = 'UnknownOutcomeError';
}

/**
 * Sends the last statements and COMMIT in one flight. After an error the server does not reach COMMIT.
 * @throws UnknownOutcomeError
 */
export async function commit(client: pg.ClientBase, statements: readonly Parameterised[]): Promise<void> {
  const replication = watchReplication(client);
  try {
    const results = await sendBatch(client, [...statements, { text: 'COMMIT' }]);
    if (replication.broken()) throw new UnknownOutcomeError('the wait for the synchronous standby was broken off');
    // PostgreSQL answers the COMMIT of a failed transaction with ROLLBACK and no error.
    if (results.at(-1)?.command !== 'COMMIT') throw new Error(`COMMIT was answered ${results.at(-1)?.command}`);
  } catch (error) {
    if (isConnectionLoss(error))
      throw new UnknownOutcomeError('the connection was lost during COMMIT', { cause: error });
    throw error;
  } finally {
    replication.end();
  }
}
