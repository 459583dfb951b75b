/** Sends a long list of statements in few messages. */
import type pg from 'pg';
import { ExchangeError } from './errors.js';
import { type StatementResult, sendScript } from './exchange.js';

/** Characters of SQL per message. The server parses a whole message before it runs the first statement. */
const CHARACTERS_PER_MESSAGE = 1_000_000;

/**
 * Runs statements in order until the first error. Each is exactly one SQL statement without a final semicolon. Call it
 * inside a transaction.
 * @returns one result per statement
 * @throws ExchangeError, whose `results` contain those of all finished statements
 */
export async function runScript(client: pg.ClientBase, statements: readonly string[]): Promise<StatementResult[]> {
  const results: StatementResult[] = [];
  for (const message of messages(statements)) {
    try {
      results.push(...(await sendScript(client, message)));
    } catch (error) {
      if (!(error instanceof ExchangeError)) throw error;
      throw new ExchangeError(error.cause, [...results, ...error.results]);
    }
  }
  return results;
}

function* messages(statements: readonly string[]): Iterable<string> {
  let gathered: string[] = [];
  let length = 0;
  for (const statement of statements) {
    if (length > 0 && length + statement.length > CHARACTERS_PER_MESSAGE) {
      yield gathered.join(';\n');
      gathered = [];
      length = 0;
    }
    gathered.push(statement);
    length += statement.length + 2;
  }
  if (gathered.length > 0) yield gathered.join(';\n');
}
