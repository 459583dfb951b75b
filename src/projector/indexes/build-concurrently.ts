import { extrasOf, type State, getField, isIndexed } from '../../schema/model/state.js';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Queryable } from '../../postgres/pool.js';
import { SQLSTATE, sqlState } from '../../postgres/errors.js';
import { indexName, indexNameOf } from '../../schema/model/constraint-names.js';
import { type Sql, ident, qualified, sql } from '../ddl/sql.js';
import { type PlacedTarget, renamedTarget, renamesWithin } from '../verify/renamed-target.js';
import type { IndexTarget } from './targets.js';

export interface Reconciling {
  /** Not in a transaction, because CREATE INDEX CONCURRENTLY cannot run in one. */
  client: pg.ClientBase;
  schema: string;
  /** The state at the head of the log when called, or later. */
  currentState: () => Promise<State>;
  stopping?: () => boolean;
}

export type Reconciled = 'built' | 'dropped' | 'as it should be';

/**
 * undefined_table, undefined_column, duplicate_table, undefined_object: the table changed concurrently, so look
 * again.
 */
const MOVED = new Set(['42P01', '42703', '42P07', '42704']);
const LOOKS = 3;

/** These errors depend on concurrent sessions, not on the index. */
const MOMENTARY = new Set<string>([SQLSTATE.deadlock_detected, SQLSTATE.lock_not_available]);
/** Milliseconds before each retry. After the last one, operators are notified. */
const PAUSES = [100, 300, 1_000, 3_000];

/**
 * Creates or drops an index to match the state instead of the event, so that outdated events cause no work. It keeps
 * a valid index and drops an invalid one, which a failed build left behind. Idempotent.
 * @throws the PostgreSQL error if the index cannot be built
 */
export async function reconcileIndex(reconciling: Reconciling, target: PlacedTarget): Promise<Reconciled> {
  const pauses = PAUSES.values();
  for (let look = 1; ;) {
    try {
      return await reconcileOnce(reconciling, target);
    } catch (error) {
      const state = sqlState(error) ?? '';
      const pause = MOMENTARY.has(state) ? pauses.next().value : undefined;
      if (pause !== undefined && reconciling.stopping?.() !== true) await sleep(pause);
      else if (look < LOOKS && MOVED.has(state)) look += 1;
      else throw error;
    }
  }
}

/** Checks whether a field should have an index, whatever its current name. */
export async function isDesired(db: Queryable, state: State, target: PlacedTarget): Promise<boolean> {
  const { collection, field } = await targetIn(db, state, target);
  return isIndexed(getField(state, collection, field));
}

/** Translates the target to the names of the state, which is at the target's event or later. */
async function targetIn(db: Queryable, state: State, target: PlacedTarget): Promise<IndexTarget> {
  return renamedTarget(target, await renamesWithin(db, target.position, state.position));
}

async function reconcileOnce(reconciling: Reconciling, placed: PlacedTarget): Promise<Reconciled> {
  const { client, schema, currentState } = reconciling;
  const state = await currentState();
  const target = await targetIn(client, state, placed);
  const { collection, field } = target;
  const desired = desiredIndex(state, target);
  const name = desired.name ?? indexName(collection, field);
  const found = desired.others.has(name) ? NONE : await findIndex(client, schema, target, name);
  if (desired.name !== null && found.valid === true) return 'as it should be';
  const index = qualified(schema, name);
  if (found.valid !== null) await client.query(sql`DROP INDEX CONCURRENTLY IF EXISTS ${index}`);
  if (desired.name === null) return found.valid === null ? 'as it should be' : 'dropped';
  const on = sql`${ident(name)} ON ${qualified(schema, collection)} (${ident(field)})`;
  if (found.partitioned) await buildUnderLock(client, sql`CREATE INDEX ${on}`);
  else await client.query(sql`CREATE INDEX CONCURRENTLY ${on}`);
  return afterBuild(reconciling, placed, name);
}

/** Partitioned tables do not support CONCURRENTLY. Writers queue behind this lock, so the wait for it is short. */
async function buildUnderLock(client: pg.ClientBase, create: Sql): Promise<void> {
  await client.query(sql`BEGIN; SET LOCAL lock_timeout = '200ms'`);
  try {
    await client.query(create);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
}

/**
 * A concurrent rename or removal did not see the new index, and no longer knows the name under which it was built.
 */
async function afterBuild(reconciling: Reconciling, target: PlacedTarget, name: string): Promise<Reconciled> {
  const { client, schema, currentState } = reconciling;
  const state = await currentState();
  const { name: now } = desiredIndex(state, await targetIn(client, state, target));
  if (now === name) return 'built';
  await client.query(sql`DROP INDEX CONCURRENTLY IF EXISTS ${qualified(schema, name)}`);
  return now === null ? 'dropped' : reconcileOnce(reconciling, target);
}

interface DesiredIndex {
  /** The name of the field's index; null if it has none. */
  name: string | null;
  /** The names of the other indexes of the table. */
  others: ReadonlySet<string>;
}

function desiredIndex(state: State, { collection, field }: IndexTarget): DesiredIndex {
  const others = extrasOf(state.collections.get(collection)).indexes ?? [];
  const column = getField(state, collection, field);
  const name = column?.schema?.is_indexed === true ? indexNameOf({ ...column, schema: column.schema }) : null;
  return { name, others: new Set(others.map((each) => each.name)) };
}

interface ExistingIndex {
  valid: boolean | null;
  partitioned: boolean;
}

const NONE: ExistingIndex = { valid: null, partitioned: false };

/** An index with the same name that is not a plain index of the column is not ours. */
const FIND: Sql = sql`
SELECT t.relkind = 'p' AS partitioned, x.valid
FROM pg_catalog.pg_class t JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace
LEFT JOIN LATERAL (
  SELECT i.indisvalid AND i.indisready AND i.indislive AS valid
  FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
  JOIN pg_catalog.pg_attribute a ON a.attrelid = t.oid AND a.attname = $4 AND i.indkey::text = a.attnum::text
  WHERE i.indrelid = t.oid AND c.relname = $3 AND NOT i.indisunique AND NOT i.indisexclusion
    AND i.indpred IS NULL
) x ON true
WHERE n.nspname = $1 AND t.relname = $2 AND t.relkind IN ('r', 'p')`;

async function findIndex(
  client: pg.ClientBase,
  schema: string,
  { collection, field }: IndexTarget,
  name: string,
): Promise<ExistingIndex> {
  const { rows } = await client.query<ExistingIndex>(FIND, [schema, collection, name, field]);
  return rows[0] ?? NONE;
}
