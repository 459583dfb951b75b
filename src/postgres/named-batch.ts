/** Sends statements of one flight by name, so that inserting a statement cannot mix up the results. */
import type pg from 'pg';
import { ExchangeError } from './errors.js';
import { type Parameterised, type StatementResult, sendBatch } from './exchange.js';

/**
 * Like `sendBatch`, with names in the order of the members. Undefined statements are not sent and return no rows.
 * @throws ExchangeError with the name of the failed statement in `at`
 */
export async function sendNamed<Name extends string>(
  client: pg.ClientBase,
  statements: Readonly<Record<Name, Parameterised | undefined>>,
): Promise<Record<Name, StatementResult['rows']>> {
  const given = Object.entries(statements) as [Name, Parameterised | undefined][];
  const sent = given.flatMap(([name, statement]) => (statement === undefined ? [] : [{ name, statement }]));
  const results = await sendBatch(
    client,
    sent.map(({ statement }) => statement),
  ).catch((error: unknown) => {
    if (!(error instanceof ExchangeError)) throw error;
    throw new ExchangeError(error.cause, error.results, sent[error.results.length]?.name);
  });
  const rows = new Map(sent.map(({ name }, index) => [name, results[index]?.rows ?? []]));
  return Object.fromEntries(given.map(([name]) => [name, rows.get(name) ?? []])) as Record<
    Name,
    StatementResult['rows']
  >;
}
