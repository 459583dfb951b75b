/** A batch on its way into the tables: the DDL, and what PostgreSQL's refusal of it means. */
import type pg from 'pg';
import { ExchangeError, SQLSTATE, driverError, isRetryable, sqlState } from '../postgres/errors.js';
import { sendScript } from '../postgres/exchange.js';
import { runScript } from '../postgres/script.js';
import { type Sql, join, literal, sql } from '../projector/ddl/sql.js';
import { ddlFailure } from '../projector/errors.js';
import { type LockSettings, isLockTableFull, readLockSettings } from '../projector/lock-table.js';
import type { Statement } from '../projector/statement.js';
import type { NewEvent } from '../schema/events.js';
import type { Problem } from '../schema/problem.js';
import type { State } from '../schema/state.js';
import { explained } from './explain.js';

export interface Projection {
  pool: pg.Pool;
  before: State;
  after: State;
  events: readonly NewEvent[];
  statements: readonly Statement[];
  schema: string;
  /** The transaction goes on after a refusal, from its savepoint. */
  keeps: boolean;
}

/**
 * Runs the statements of a batch in the client's transaction.
 * @returns why PostgreSQL refused them, or null; after a refusal the transaction can only be rolled back
 * @throws what the whole transaction may be tried again for, and what is our own bug
 */
export async function runStatements(client: pg.ClientBase, projection: Projection): Promise<Problem[] | null> {
  const question = takenNames(projection);
  const script = projection.statements.map((statement) => statement.sql);
  if (question !== null) script.unshift(question);
  if (script.length === 0) return null;
  try {
    const results = await runScript(client, script);
    return question === null ? null : hiddenByFolders(projection, results[0]?.rows ?? []);
  } catch (error) {
    if (!(error instanceof ExchangeError) || isRetryable(error)) throw error;
    return refusals(client, projection, { error, asked: question === null ? 0 : 1 });
  }
}

async function refusals(
  client: pg.ClientBase,
  projection: Projection,
  { error, asked }: { error: ExchangeError; asked: 0 | 1 },
): Promise<Problem[]> {
  const settings = isLockTableFull(driverError(error)) ? await lockSettings(client, projection.pool) : undefined;
  const problems = problemsOf(error, { statements: projection.statements, settings, asked });
  return Promise.all(problems.map((problem) => explained(client, problem, projection)));
}

/**
 * Not on the client that met the failure: its transaction answers nothing but an empty query, and that only when it has
 * given back its locks. Before, not even a new connection would find room for the few it needs.
 */
async function lockSettings(client: pg.ClientBase, pool: pg.Pool): Promise<LockSettings | undefined> {
  try {
    await sendScript(client, '');
    return await readLockSettings(pool);
  } catch {
    return undefined;
  }
}

interface Failed {
  statements: readonly Statement[];
  settings: LockSettings | undefined;
  /** Statements ahead of those of the batch: the question for taken names, or none. */
  asked: 0 | 1;
}

function problemsOf(error: ExchangeError, { statements, settings, asked }: Failed): Problem[] {
  const taken = asked === 1 ? (error.results[0]?.rows ?? []) : [];
  if (sqlState(error) === SQLSTATE.duplicate_table && taken.length > 0) {
    return (taken as readonly Taken[]).map(unmanaged);
  }
  return [ddlFailure(error, statements, Math.max(0, error.results.length - asked), settings)];
}

interface Taken {
  name: string;
  table: boolean;
}

/** PostgreSQL has nothing against a folder that is called like a table it would hide. */
function hiddenByFolders({ after }: Projection, rows: readonly unknown[]): Problem[] | null {
  const hidden = (rows as Taken[]).filter(
    ({ name, table }) => table && after.collections.get(name)?.collection.schema === null,
  );
  return hidden.length === 0 ? null : hidden.map(unmanaged);
}

/**
 * Which of the new collections' names something else has. It goes ahead of the DDL in the same message and costs no
 * round trip; for tables the answer is looked at only when the DDL fails.
 */
function takenNames({ before, events, schema }: Projection): Sql | null {
  const names = events
    .filter((event) => event.type === 'collection.created')
    .map((event) => event.collection)
    .filter((name) => before.collections.get(name)?.collection.schema == null);
  if (names.length === 0) return null;
  return sql`SELECT c.relname::text AS name, c.relkind IN ('r', 'p') AS "table"
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = ${literal(schema)} AND c.relname IN (${join(names.map(literal), sql`, `)})
 ORDER BY c.relname`;
}

function unmanaged({ name, table }: Taken): Problem {
  const message = table
    ? `A table "${name}" exists in the database and is not managed yet: adopt it, or choose another name.`
    : `Something that is not a table is called "${name}" in the database already: choose another name.`;
  return { code: 'ALREADY_EXISTS', message, collection: name, ...(table ? { details: { adopt: name } } : {}) };
}
