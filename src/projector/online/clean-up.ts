/** Takes away what was made for a request: found in the catalog by its name, so that no crash can leave it behind. */
import { type Sql, ident, qualified, sql } from '../ddl/sql.js';
import { preparedNamesOf } from './names.js';
import { type LockWaits, underStrongLocks } from './strong-locks.js';
import type { StepContext } from './types.js';

type Cleaning = Pick<StepContext, 'id' | 'session' | 'schema' | 'signal'>;

/** @see PreparationEngine.cleanUp */
export async function cleanUp(context: Cleaning, waits: LockWaits): Promise<void> {
  await dropConstraints(context, waits);
  await dropIndexes(context);
}

interface ConstraintRow {
  table: string;
  name: string;
  /** The table that a foreign key points at, where it is in the same schema. */
  other: string | null;
}

const CONSTRAINTS = sql`
SELECT t.relname::text AS table, c.conname::text AS name, o.relname::text AS other
FROM pg_catalog.pg_constraint c JOIN pg_catalog.pg_class t ON t.oid = c.conrelid
JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace
LEFT JOIN pg_catalog.pg_class o ON o.oid = c.confrelid AND o.oid <> t.oid AND o.relnamespace = t.relnamespace
WHERE n.nspname = $1 AND c.conname ~ $2 AND c.coninhcount = 0 AND c.contype <> 't' ORDER BY 1, 2`;

async function dropConstraints(context: Cleaning, waits: LockWaits): Promise<void> {
  const { session, schema, id } = context;
  const { rows } = await session.query<ConstraintRow>(CONSTRAINTS, [schema, preparedNamesOf(id)]);
  for (const { table, name, other } of rows) {
    const tables = [table, ...(other === null ? [] : [other])].sort();
    const locks = tables.map((each) => ({ table: each, lock: 'ACCESS EXCLUSIVE' }) as const);
    const drop = sql`ALTER TABLE IF EXISTS ${qualified(schema, table)} DROP CONSTRAINT IF EXISTS ${ident(name)}`;
    await underStrongLocks(context, locks, waits, async () => {
      await session.query(drop);
    });
  }
}

const INDEXES: Sql = sql`
SELECT c.relname::text AS name FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = $1 AND c.relname ~ $2 AND c.relkind IN ('i', 'I') ORDER BY 1`;

/** Waits for the transactions that use the index, and stands in nobody's way. */
async function dropIndexes({ session, schema, id, signal }: Cleaning): Promise<void> {
  const { rows } = await session.query<{ name: string }>(INDEXES, [schema, preparedNamesOf(id)]);
  for (const { name } of rows) {
    signal.throwIfAborted();
    await session.query(sql`DROP INDEX CONCURRENTLY IF EXISTS ${qualified(schema, name)}`);
  }
}
