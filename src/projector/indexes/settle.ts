/** Makes one index be what the state wants it to be: there and valid, or not there. */
import type pg from 'pg';
import { sqlState } from '../../postgres/errors.js';
import { indexName } from '../../schema/constraint-names.js';
import { type State, getField } from '../../schema/state.js';
import { indexIdent, qualifiedIndex } from '../ddl/names.js';
import { type Sql, ident, qualified, sql } from '../ddl/sql.js';
import type { IndexTarget } from './targets.js';

export interface Settling {
  /** Not in a transaction: CREATE INDEX CONCURRENTLY can't be. */
  client: pg.ClientBase;
  schema: string;
  /** The state at the head of the log at the moment of the call, or later. */
  currentState: () => Promise<State>;
}

export type Settled = 'built' | 'dropped' | 'as it should be';

/** undefined_table, undefined_column, duplicate_table, undefined_object: the table changed under us; look again. */
const MOVED = new Set(['42P01', '42703', '42P07', '42704']);
const LOOKS = 3;

/**
 * The state decides, not the event: what a later event changed again is not done first. A valid index stays, an
 * invalid one is the rest of a build that failed and goes. Idempotent.
 * @throws what PostgreSQL says when it can't build the index
 */
export async function settleIndex(settling: Settling, target: IndexTarget): Promise<Settled> {
  for (let look = 1; ; look += 1) {
    try {
      return await settleOnce(settling, target);
    } catch (error) {
      if (look === LOOKS || !MOVED.has(sqlState(error) ?? '')) throw error;
    }
  }
}

export function isWanted(state: State, { collection, field }: IndexTarget): boolean {
  return getField(state, collection, field)?.schema?.is_indexed === true;
}

async function settleOnce({ client, schema, currentState }: Settling, target: IndexTarget): Promise<Settled> {
  const { collection, field } = target;
  const found = await findIndex(client, schema, target);
  const wanted = isWanted(await currentState(), target);
  if (wanted && found.valid === true) return 'as it should be';
  if (found.valid !== null) {
    await client.query(sql`DROP INDEX CONCURRENTLY IF EXISTS ${qualifiedIndex(schema, collection, field)}`);
  }
  if (!wanted) return found.valid === null ? 'as it should be' : 'dropped';
  const on = sql`${indexIdent(collection, field)} ON ${qualified(schema, collection)} (${ident(field)})`;
  // A partitioned table has no CONCURRENTLY.
  await client.query(found.partitioned ? sql`CREATE INDEX ${on}` : sql`CREATE INDEX CONCURRENTLY ${on}`);
  return 'built';
}

interface Found {
  /** Of the index; null: there is none. */
  valid: boolean | null;
  partitioned: boolean;
}

const FIND: Sql = sql`
SELECT t.relkind = 'p' AS partitioned, x.valid
FROM pg_catalog.pg_class t JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace
LEFT JOIN LATERAL (
  SELECT i.indisvalid AND i.indisready AND i.indislive AS valid
  FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
  WHERE i.indrelid = t.oid AND c.relname = $3
) x ON true
WHERE n.nspname = $1 AND t.relname = $2 AND t.relkind IN ('r', 'p')`;

async function findIndex(client: pg.ClientBase, schema: string, { collection, field }: IndexTarget): Promise<Found> {
  const { rows } = await client.query<Found>(FIND, [schema, collection, indexName(collection, field)]);
  return rows[0] ?? { valid: null, partitioned: false };
}
