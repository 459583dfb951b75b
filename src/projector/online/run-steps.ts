/* Runs the steps of a preparation: constraints, indexes, and the triggers that record writes. */
import { integer, join, literal, sql, ident, type Sql } from '../ddl/sql.js';
import {
  type Copying,
  PREPARATION_SCHEMA,
  copyTable,
  createCopy,
  createTriggers,
  dropNotes,
  dropTriggers,
  lostTable,
  notedTable,
  triggerNames,
  preparedName,
} from './copy.js';
import { copyingIn, type Pace, waitForStandbys } from './run-copy.js';
import { type EngineStep, type Prepared, type NotNullBy, besidePrepared, preparedTable } from './steps.js';
import { type LockWaits, underStrongLocks } from './strong-locks.js';
import type { StepContext } from './types.js';
import type { LockedTable } from '../ddl/step.js';

/* NOT NULL, checks and foreign keys: added NOT VALID under a short lock, then validated without blocking others. */

/** Adds the constraint for new rows without checking existing ones. */
export async function addConstraint(context: StepContext, step: EngineStep, waits: LockWaits): Promise<void> {
  if ((await findConstraint(context, step)) !== null) return;
  const { schema, id } = context;
  const { prepared, notNullBy } = step;
  const definition = notValid(prepared, notNullBy);
  if (definition === null) return;
  const table = preparedTable(prepared, schema);
  const name = ident(preparedName(id, prepared.key));
  await underStrongLocks(context, locksOf(prepared), waits, {
    under: [sql`ALTER TABLE ${table} ADD CONSTRAINT ${name} ${definition} NOT VALID`],
  });
}

/** Reads the whole table under a lock that blocks only other DDL and VACUUM. */
export async function validateConstraint(context: StepContext, step: EngineStep, waits: LockWaits): Promise<void> {
  // Someone may have dropped it by hand in the meantime.
  await addConstraint(context, step, waits);
  if ((await findConstraint(context, step)) === true) return;
  const { session, schema, id } = context;
  const { prepared } = step;
  const name = ident(preparedName(id, prepared.key));
  await session.query(sql`ALTER TABLE ${preparedTable(prepared, schema)} VALIDATE CONSTRAINT ${name}`);
}

function notValid({ what }: Prepared, notNullBy: NotNullBy): Sql | null {
  if (what.kind === 'constraint') return what.definition;
  if (what.kind !== 'not null') return null;
  const column = ident(what.column);
  // A composite value with a null attribute fails IS NOT NULL, but a NOT NULL column may hold it. PostgreSQL proves
  // NOT NULL from either form.
  return notNullBy === 'constraint' ? sql`NOT NULL ${column}` : sql`CHECK (${column} IS DISTINCT FROM NULL)`;
}

function locksOf({ table, at, what }: Prepared): LockedTable[] {
  const own = { table, ...(at !== undefined && { at }) };
  if (what.kind !== 'constraint' || what.references === null) return [{ ...own, lock: 'ACCESS EXCLUSIVE' }];
  const lock = 'SHARE ROW EXCLUSIVE';
  if (what.references === table) return [{ ...own, lock }];
  const other = { table: what.references, ...(what.referencesAt !== undefined && { at: what.referencesAt }) };
  return [own, other].map((each) => ({ ...each, lock }) as const).sort((a, b) => (a.table < b.table ? -1 : 1));
}

async function findConstraint({ session, schema, id }: StepContext, { prepared }: EngineStep): Promise<boolean | null> {
  const constraint = sql`
    SELECT convalidated AS valid FROM pg_catalog.pg_constraint
    WHERE conrelid = pg_catalog.to_regclass(${literal(preparedTable(prepared, schema))})::oid
      AND conname = ${literal(preparedName(id, prepared.key))}`;
  const { rows } = await session.query<{ valid: boolean }>(constraint);
  return rows[0]?.valid ?? null;
}

/* Builds indexes, including those of keys, concurrently under a temporary name. */

/**
 * Keeps a valid index and drops an invalid one, which a failed build left behind. Builds without parallel workers,
 * which would take CPU time from applications. A build cannot pause, so standbys catch up before it begins.
 */
export async function buildIndex(context: StepContext, { prepared }: EngineStep, pace: Pace): Promise<void> {
  const { what, key } = prepared;
  if (what.kind !== 'index' && what.kind !== 'key') return;
  const { session, schema, id, signal } = context;
  const name = preparedName(id, key);
  const valid = await findIndex(context, prepared, name);
  if (valid === true) return;
  if (valid === false)
    await session.query(sql`DROP INDEX CONCURRENTLY IF EXISTS ${besidePrepared(prepared, schema, name)}`);
  await waitForStandbys(session, context, pace);
  await session.query('SET max_parallel_maintenance_workers = 0');
  signal.throwIfAborted();
  const kind = what.kind === 'key' || what.unique ? sql`UNIQUE INDEX` : sql`INDEX`;
  const on = preparedTable(prepared, schema);
  await session.query(sql`CREATE ${kind} CONCURRENTLY ${ident(name)} ON ${on} ${what.definition}`);
}

async function findIndex({ session, schema }: StepContext, prepared: Prepared, name: string): Promise<boolean | null> {
  const index = sql`
    SELECT i.indisvalid AND i.indisready AND i.indislive AS valid
    FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
    WHERE i.indrelid = pg_catalog.to_regclass(${literal(preparedTable(prepared, schema))})::oid AND c.relname = ${literal(name)}`;
  const { rows } = await session.query<{ valid: boolean }>(index);
  return rows[0]?.valid ?? null;
}

/* Starts a copy: creates its tables, and the triggers that record writes. */

/** Creates the empty copy and the triggers that record all later writes. If either is missing, it starts over. */
export async function noteWrites(context: StepContext, step: EngineStep, waits: LockWaits): Promise<void> {
  const copying = copyingIn(context, step);
  if (await isWhole(context, copying)) return;
  const { table, at } = step.prepared;
  const own = { table, ...(at !== undefined && { at }) };
  const locks = [{ ...own, lock: 'SHARE ROW EXCLUSIVE' }] as const;
  // Old triggers are dropped first, under a separate lock, so that the objects they use can be recreated.
  if (await hasTriggers(context, copying))
    await underStrongLocks(context, [{ ...own, lock: 'ACCESS EXCLUSIVE' }], waits, { under: dropTriggers(copying) });
  await ensureRoom(context);
  const before = [...dropNotes(copying), sql`DROP TABLE IF EXISTS ${copyTable(copying)}`, ...createCopy(copying)];
  await underStrongLocks(context, locks, waits, { before, under: createTriggers(copying) });
}

/**
 * All are created in one transaction. If the triggers exist, so does the rest, unless someone dropped or disabled
 * something by hand.
 */
async function isWhole({ session }: StepContext, copying: Copying): Promise<boolean> {
  const names = triggerNames(copying);
  const tables = [copyTable, notedTable, lostTable].map(
    (of) => sql`pg_catalog.to_regclass(${literal(of(copying))}) IS NOT NULL`,
  );
  const { rows } = await session.query<{ whole: boolean }>(sql`
    SELECT ${join(tables, sql` AND `)} AND (
      SELECT count(*) = ${integer(String(names.length))} FROM pg_catalog.pg_trigger
       WHERE tgrelid = pg_catalog.to_regclass(${literal(copying.table)})::oid AND tgenabled = 'A' AND tgname IN (${join(names.map(literal), sql`, `)})
    ) AS whole`);
  return rows[0]?.whole === true;
}

async function hasTriggers({ session }: StepContext, copying: Copying): Promise<boolean> {
  const names = join(triggerNames(copying).map(literal), sql`, `);
  const { rowCount } = await session.query(
    sql`SELECT FROM pg_catalog.pg_trigger WHERE tgrelid = pg_catalog.to_regclass(${literal(copying.table)})::oid AND tgname IN (${names})`,
  );
  return rowCount !== 0;
}

/** IF NOT EXISTS alone would require the CREATE privilege even if the schema exists. */
async function ensureRoom({ session }: StepContext): Promise<void> {
  const { rowCount } = await session.query(
    sql`SELECT FROM pg_catalog.pg_namespace WHERE oid = pg_catalog.to_regnamespace(${literal(PREPARATION_SCHEMA)})::oid`,
  );
  if (rowCount === 0) await session.query(sql`CREATE SCHEMA IF NOT EXISTS ${PREPARATION_SCHEMA}`);
}
