/** The end of a command's transaction. */
import type pg from 'pg';
import { isConnectionLoss } from '../postgres/errors.js';
import { type Parameterised, type StatementResult, sendBatch } from '../postgres/exchange.js';
import { within } from './deadline.js';
import type { PipelineOptions } from './types.js';

/** The connection was lost after the COMMIT may have been sent. */
export class UnknownOutcomeError extends Error {
  override readonly name = 'UnknownOutcomeError';
}

/** Beyond the limit of each statement: flushing, waiting for a standby, the way back. */
const GRACE = 60_000;

/** One flight; a connection that doesn't answer in time counts as lost. */
export function sendLimited(
  client: pg.ClientBase,
  statements: readonly Parameterised[],
  { statementTimeout }: Pick<PipelineOptions, 'statementTimeout'>,
): Promise<StatementResult[]> {
  const flight = sendBatch(client, statements);
  return statementTimeout === 0 ? flight : within(client, flight, statementTimeout + GRACE);
}

/**
 * Sends the last statements with the COMMIT behind them, as one flight: after an error the server doesn't reach it.
 * @throws UnknownOutcomeError
 */
export async function commit(
  client: pg.ClientBase,
  statements: readonly Parameterised[],
  options: Pick<PipelineOptions, 'statementTimeout'>,
): Promise<void> {
  try {
    const results = await sendLimited(client, [...statements, { text: 'COMMIT' }], options);
    // A transaction that had failed before would be answered ROLLBACK, and without an error.
    if (results.at(-1)?.command !== 'COMMIT') throw new Error(`COMMIT was answered ${results.at(-1)?.command}`);
  } catch (error) {
    if (isConnectionLoss(error))
      throw new UnknownOutcomeError('the connection was lost during COMMIT', { cause: error });
    throw error;
  }
}
