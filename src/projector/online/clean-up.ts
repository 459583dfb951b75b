import { type Sql, block, ident, literal, qualified, sql } from '../ddl/sql.js';
import { ROOM } from './copy.js';
import { preparedNamesOf } from './names.js';
import { type LockWaits, underStrongLocks } from './strong-locks.js';
import type { StepContext } from './types.js';

type Cleaning = Pick<StepContext, 'id' | 'session' | 'schema' | 'signal'>;

/** @see PreparationEngine.cleanUp */
export async function cleanUp(context: Cleaning, waits: LockWaits): Promise<void> {
  await dropConstraints(context, waits);
  await dropTriggers(context, waits);
  await dropCopies(context);
  await dropIndexes(context);
}

interface ConstraintRow {
  table: string;
  name: string;
  /** The table that a foreign key references, if it is in the same schema. */
  other: string | null;
}

const CONSTRAINTS = sql`
SELECT t.relname::text AS table, c.conname::text AS name, o.relname::text AS other
FROM pg_catalog.pg_constraint c JOIN pg_catalog.pg_class t ON t.oid = c.conrelid
JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace
LEFT JOIN pg_catalog.pg_class o ON o.oid = c.confrelid AND o.oid <> t.oid AND o.relnamespace = t.relnamespace
WHERE n.nspname = $1 AND c.conname ~ $2::text AND c.coninhcount = 0 AND c.contype <> 't' ORDER BY 1, 2`;

async function dropConstraints(context: Cleaning, waits: LockWaits): Promise<void> {
  const { session, schema, id } = context;
  const { rows } = await session.query<ConstraintRow>(CONSTRAINTS, [schema, preparedNamesOf(id)]);
  for (const { table, name, other } of rows) {
    const tables = [table, ...(other === null ? [] : [other])].sort();
    const locks = tables.map((each) => ({ table: each, lock: 'ACCESS EXCLUSIVE' }) as const);
    const drop = sql`ALTER TABLE IF EXISTS ${qualified(schema, table)} DROP CONSTRAINT IF EXISTS ${ident(name)}`;
    await underStrongLocks(context, locks, waits, { under: [drop] });
  }
}

const INDEXES: Sql = sql`
SELECT c.relname::text AS name FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = $1 AND c.relname ~ $2::text AND c.relkind IN ('i', 'I') ORDER BY 1`;

/** Waits for the transactions that use the index, without blocking others. */
async function dropIndexes({ session, schema, id, signal }: Cleaning): Promise<void> {
  const { rows } = await session.query<{ name: string }>(INDEXES, [schema, preparedNamesOf(id)]);
  for (const { name } of rows) {
    signal.throwIfAborted();
    await session.query(sql`DROP INDEX CONCURRENTLY IF EXISTS ${qualified(schema, name)}`);
  }
}

const TRIGGERS = sql`
SELECT c.relname::text AS table, pg_catalog.array_agg(t.tgname::text ORDER BY t.tgname) AS names
FROM pg_catalog.pg_trigger t JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = $1 AND t.tgname ~ $2::text AND NOT t.tgisinternal GROUP BY 1 ORDER BY 1`;

async function dropTriggers(context: Cleaning, waits: LockWaits): Promise<void> {
  const { session, schema, id } = context;
  const { rows } = await session.query<{ table: string; names: string[] }>(TRIGGERS, [schema, preparedNamesOf(id)]);
  for (const { table, names } of rows) {
    await underStrongLocks(context, [{ table, lock: 'ACCESS EXCLUSIVE' }], waits, {
      under: names.map((name) => sql`DROP TRIGGER IF EXISTS ${ident(name)} ON ${qualified(schema, table)}`),
    });
  }
}

const IN_ROOM = sql`
SELECT 'function' AS kind, proname::text AS name FROM pg_catalog.pg_proc
 WHERE pronamespace = pg_catalog.to_regnamespace(${literal(ROOM)})::oid AND proname ~ $1::text
UNION ALL
SELECT 'table', relname::text FROM pg_catalog.pg_class
 WHERE relnamespace = pg_catalog.to_regnamespace(${literal(ROOM)})::oid AND relname ~ $1::text AND relkind = 'r'`;

/** Without the triggers, nothing uses the copies. The schema is dropped with the last copy. */
async function dropCopies({ session, id }: Cleaning): Promise<void> {
  const { rows } = await session.query<{ kind: 'function' | 'table'; name: string }>(IN_ROOM, [preparedNamesOf(id)]);
  for (const { kind, name } of rows) {
    const place = sql`${ROOM}.${ident(name)}`;
    await session.query(
      kind === 'table' ? sql`DROP TABLE IF EXISTS ${place}` : sql`DROP FUNCTION IF EXISTS ${place}()`,
    );
  }
  const body = sql`BEGIN DROP SCHEMA IF EXISTS ${ROOM}; EXCEPTION WHEN dependent_objects_still_exist THEN NULL; END`;
  await session.query(sql`DO ${block(body)}`);
}
