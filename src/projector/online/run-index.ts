/** Builds indexes, including those of keys, concurrently under a temporary name. */
import { ident, literal, qualified, sql } from '../ddl/sql.js';
import { preparedName } from './names.js';
import { type Pace, waitForStandbys } from './throttle.js';
import type { EngineStep } from './steps.js';
import type { StepContext } from './types.js';

/**
 * Keeps a valid index and drops an invalid one, which a failed build left behind. Builds without parallel workers,
 * which would take CPU time from applications. A build cannot pause, so standbys catch up before it begins.
 */
export async function buildIndex(context: StepContext, { prepared }: EngineStep, pace: Pace): Promise<void> {
  const { table, what, key } = prepared;
  if (what.kind !== 'index' && what.kind !== 'key') return;
  const { session, schema, id, signal } = context;
  const name = preparedName(id, key);
  const valid = await findIndex(context, table, name);
  if (valid === true) return;
  if (valid === false) await session.query(sql`DROP INDEX CONCURRENTLY IF EXISTS ${qualified(schema, name)}`);
  await waitForStandbys(session, context, pace);
  await session.query('SET max_parallel_maintenance_workers = 0');
  signal.throwIfAborted();
  const kind = what.kind === 'key' || what.unique ? sql`UNIQUE INDEX` : sql`INDEX`;
  const on = qualified(schema, table);
  await session.query(sql`CREATE ${kind} CONCURRENTLY ${ident(name)} ON ${on} ${what.definition}`);
}

async function findIndex({ session, schema }: StepContext, table: string, name: string): Promise<boolean | null> {
  const found = sql`
    SELECT i.indisvalid AND i.indisready AND i.indislive AS valid
    FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
    WHERE i.indrelid = pg_catalog.to_regclass(${literal(qualified(schema, table))})::oid AND c.relname = ${literal(name)}`;
  const { rows } = await session.query<{ valid: boolean }>(found);
  return rows[0]?.valid ?? null;
}
