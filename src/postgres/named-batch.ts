/** Statements of one flight by names: what is answered can't be taken for another's when one comes in between. */
import type pg from 'pg';
import { ExchangeError } from './errors.js';
import { type Parameterised, type StatementResult, sendBatch } from './exchange.js';

/**
 * `sendBatch` by names, in the order of the members. What is undefined isn't sent, and answers no rows.
 * @throws ExchangeError that names the statement in `at`
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
