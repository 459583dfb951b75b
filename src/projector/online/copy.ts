/*
 * Copies a column's values while the table is in use. Triggers only record the keys of written rows, so that no
 * application write waits for the copy, conflicts with it or fails because of it. The recorded rows are read again
 * from the table and updated in the copy, the last ones under the lock of the change.
 *
 * All objects are in the trash schema of position 0, which no event has.
 */
import { hash } from 'node:crypto';
import { type Sql, block, ident, join, literal, qualified, sql, trash } from '../ddl/sql.js';
import type { CopiedColumn } from '../ddl/step.js';
import type { Queryable } from '../../postgres/pool.js';
import { ownTable } from '../../postgres/own-tables.js';
import { type LockWaits, runUnderStrongLocks } from './strong-locks.js';
import type { StepContext } from './types.js';
import { type PreparedStep, preparedTable } from './steps.js';

/*
 * Names of objects created for a change request. They identify the request, so that verification can ignore them
 * while it is open, and cleanup finds them even if other data was lost.
 */

/**
 * Regular expression for names of prepared objects, valid in JavaScript and PostgreSQL. The names have at most 59
 * bytes, so PostgreSQL never truncates them.
 */
export const PREPARED_NAME = '^dps_online_[0-9a-f]{32}_[0-9a-f]{8}(_[a-z]{1,6})?$';

const PREPARED = new RegExp(PREPARED_NAME);

/**
 * Returns the name of a prepared object.
 * @param id UUID of the change request
 * @param key identifies the object within the request
 */
export const preparedName = (id: string, key: string): string => `${namePrefix(id)}${hash('sha256', key).slice(0, 8)}`;

const namePrefix = (id: string): string => `dps_online_${id.replaceAll('-', '').toLowerCase()}_`;

/** Matches the names of one request, as a PostgreSQL regular expression. */
export const preparedNamesOf = (id: string): string => `^${namePrefix(id)}[0-9a-f]{8}(_[a-z]{1,6})?$`;

/** Returns the UUID of the request that a name contains. Null for other names. */
export function requestOf(name: string): string | null {
  if (!PREPARED.test(name)) return null;
  const hex = name.slice('dps_online_'.length, 'dps_online_'.length + 32);
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** The schema that contains copies until their change is applied. */
export const PREPARATION_SCHEMA: Sql = trash(0);

export interface ColumnCopy {
  table: Sql;
  column: CopiedColumn;
  key: readonly CopiedColumn[];
  /** The name prefix of the objects created for the copy. */
  name: string;
}

/**
 * @param id of the change request
 * @param schema the default schema
 */
export function createCopying(
  { id, schema }: { id: string; schema: string },
  {
    key: name,
    what,
    ...table
  }: Pick<PreparedStep, 'table' | 'at' | 'key'> & { what: Pick<ColumnCopy, 'column' | 'key'> },
): ColumnCopy {
  return { table: preparedTable(table, schema), column: what.column, key: what.key, name: preparedName(id, name) };
}

const preparationTable = (name: string): Sql => sql`${PREPARATION_SCHEMA}.${ident(name)}`;

/** The table with the copied values, in columns named by identity. */
export const copyTable = ({ name }: ColumnCopy): Sql => preparationTable(name);
/** The table with the keys of written rows, in the order of the writes. */
export const notedTable = ({ name }: ColumnCopy): Sql => preparationTable(`${name}_noted`);
/** The table with rows that a trigger could not record, and the reasons. */
export const lostTable = ({ name }: ColumnCopy): Sql => preparationTable(`${name}_lost`);
const noteFunction = ({ name }: ColumnCopy): Sql => preparationTable(`${name}_note`);

const list = <T>(items: readonly T[], each: (item: T) => Sql): Sql => join(items.map(each), sql`, `);
const joinWithAnd = <T>(items: readonly T[], each: (item: T) => Sql): Sql => join(items.map(each), sql` AND `);

const identities = (columns: readonly CopiedColumn[]): Sql => list(columns, ({ identity }) => ident(identity));

/** Returns statements that create the schema, its tables and the function. They lock nothing that others use. */
export function createCopy(copying: ColumnCopy): Sql[] {
  const { table, key, column } = copying;
  const copied = list([...key, column], ({ name, identity }) => sql`t.${ident(name)} AS ${ident(identity)}`);
  const keys = list(key, ({ name, identity }) => sql`t.${ident(name)} AS ${ident(identity)}`);
  return [
    sql`CREATE TABLE ${copyTable(copying)} AS SELECT ${copied} FROM ${table} t WITH NO DATA`,
    sql`ALTER TABLE ${copyTable(copying)} ADD PRIMARY KEY (${identities(key)})`,
    sql`CREATE TABLE ${notedTable(copying)} AS SELECT ${keys}, false AS truncated FROM ${table} t WITH NO DATA`,
    sql`CREATE TABLE ${lostTable(copying)} (reason text NOT NULL, at timestamptz NOT NULL DEFAULT now())`,
    sql`CREATE FUNCTION ${noteFunction(copying)}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
        SET search_path = pg_catalog, pg_temp AS ${block(noteBody(copying))}`,
  ];
}

/**
 * Returns the body of the trigger function. It never raises an error: an application's write is more important than the
 * preparation.
 */
function noteBody(copying: ColumnCopy): Sql {
  const { key, column } = copying;
  const note = sql`INSERT INTO ${notedTable(copying)} SELECT`;
  const keyOf = (row: Sql): Sql => list(key, ({ name }) => sql`${row}.${ident(name)}`);
  const value = ident(column.name);
  const isSame = sql`${joinWithAnd(key, ({ name }) => sql`o.${ident(name)} = n.${ident(name)}`)} AND ROW(o.${value})::record *= ROW(n.${value})::record`;
  return sql`BEGIN
    BEGIN
      IF TG_OP = 'INSERT' THEN
        ${note} ${keyOf(sql`n`)}, false FROM new_rows n;
      ELSIF TG_OP = 'UPDATE' THEN
        ${note} ${keyOf(sql`n`)}, false FROM new_rows n WHERE NOT EXISTS (SELECT FROM old_rows o WHERE ${isSame});
        ${note} ${keyOf(sql`o`)}, false FROM old_rows o WHERE NOT EXISTS (SELECT FROM new_rows n WHERE ${isSame});
      ELSIF TG_OP = 'DELETE' THEN
        ${note} ${keyOf(sql`o`)}, false FROM old_rows o;
      ELSE
        INSERT INTO ${notedTable(copying)} (truncated) VALUES (true);
      END IF;
    EXCEPTION WHEN OTHERS THEN
      BEGIN
        INSERT INTO ${lostTable(copying)} (reason) VALUES (SQLSTATE || ' ' || SQLERRM);
      EXCEPTION WHEN OTHERS THEN NULL; END;
    END;
    RETURN NULL;
  END`;
}

const EVENTS = [
  { suffix: '_i', on: sql`INSERT`, rows: sql` REFERENCING NEW TABLE AS new_rows` },
  { suffix: '_u', on: sql`UPDATE`, rows: sql` REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows` },
  { suffix: '_d', on: sql`DELETE`, rows: sql` REFERENCING OLD TABLE AS old_rows` },
  { suffix: '_t', on: sql`TRUNCATE`, rows: sql`` },
] as const;

/** Names of the triggers. There is one per kind of write, including TRUNCATE. */
export const triggerNames = ({ name }: Pick<ColumnCopy, 'name'>): string[] =>
  EVENTS.map(({ suffix }) => `${name}${suffix}`);

/**
 * Returns statements that create the triggers. They take SHARE ROW EXCLUSIVE, which waits for all writers, so no write
 * after their commit is missed.
 */
export function createTriggers(copying: ColumnCopy): Sql[] {
  const { table, name } = copying;
  return EVENTS.flatMap(({ suffix, on, rows }) => {
    const trigger = ident(`${name}${suffix}`);
    return [
      sql`CREATE TRIGGER ${trigger} AFTER ${on} ON ${table}${rows} FOR EACH STATEMENT EXECUTE FUNCTION ${noteFunction(copying)}()`,
      // The trigger also fires in sessions whose session_replication_role is replica.
      sql`ALTER TABLE ${table} ENABLE ALWAYS TRIGGER ${trigger}`,
    ];
  });
}

/** Returns statements that drop the triggers. IF EXISTS is used because some may never have been created. */
export const dropTriggers = ({ table, name }: Pick<ColumnCopy, 'table' | 'name'>): Sql[] =>
  EVENTS.map(({ suffix }) => sql`DROP TRIGGER IF EXISTS ${ident(`${name}${suffix}`)} ON ${table}`);

/**
 * Returns SQL that copies rows after a key, in key order. Its result is the number of rows and the last key. A row may
 * already exist in the copy.
 * @param after the last key of the previous batch, as literals; null: from the beginning
 */
export function copyBatch(copying: ColumnCopy, after: readonly string[] | null, rows: Sql): Sql {
  const { table, key, column } = copying;
  const names = list(key, ({ name }) => sql`t.${ident(name)}`);
  const from = after === null ? sql`` : sql` WHERE (${names}) > (${list(after, literal)})`;
  const copied = list([...key, column], ({ name, identity }) => sql`t.${ident(name)} AS ${ident(identity)}`);
  const last = list(key, ({ identity }) => sql`${ident(identity)}::text`);
  const backwards = list(key, ({ identity }) => sql`${ident(identity)} DESC`);
  return sql`WITH batch AS MATERIALIZED (SELECT ${copied} FROM ${table} t${from} ORDER BY ${names} LIMIT ${rows}),
    kept AS (${upsert(copying, sql`batch`)})
    SELECT (SELECT count(*)::int FROM batch) AS rows, (SELECT ARRAY[${last}] FROM batch ORDER BY ${backwards} LIMIT 1) AS last`;
}

function upsert(copying: ColumnCopy, from: Sql): Sql {
  const { key, column } = copying;
  const columns = identities([...key, column]);
  const value = ident(column.identity);
  return sql`INSERT INTO ${copyTable(copying)} (${columns}) SELECT ${columns} FROM ${from}
    ON CONFLICT (${identities(key)}) DO UPDATE SET ${value} = excluded.${value}`;
}

/**
 * Returns SQL that reads the noted rows again and updates the copy. One snapshot sees a note and its write, or neither.
 * Its result is the number of notes and whether the table was truncated. Each row is looked up by key separately: after
 * a VACUUM of an empty notes table, PostgreSQL estimates almost no notes.
 */
export function applyNotes(copying: ColumnCopy, most: Sql): Sql {
  const { table, key, column } = copying;
  const noted = notedTable(copying);
  const match = (a: Sql, b: Sql): Sql =>
    joinWithAnd(key, ({ identity }) => sql`${a}.${ident(identity)} = ${b}.${ident(identity)}`);
  const ofRow = joinWithAnd(key, ({ name, identity }) => sql`t.${ident(name)} = k.${ident(identity)}`);
  const keys = list(key, ({ identity }) => sql`k.${ident(identity)}`);
  return sql`WITH taken AS (DELETE FROM ${noted} WHERE ctid = ANY (ARRAY(SELECT ctid FROM ${noted} LIMIT ${most})) RETURNING *),
    keys AS MATERIALIZED (SELECT DISTINCT ${identities(key)} FROM taken WHERE NOT truncated),
    found AS MATERIALIZED (SELECT ${keys}, t.${ident(column.name)} AS ${ident(column.identity)}, t.tableoid IS NOT NULL AS is_there
      FROM keys k LEFT JOIN ${table} t ON ${ofRow}),
    kept AS (${upsert(copying, sql`found WHERE is_there`)}),
    gone AS (DELETE FROM ${copyTable(copying)} c USING found f WHERE NOT f.is_there AND ${match(sql`c`, sql`f`)})
    SELECT count(*)::int AS notes, coalesce(pg_catalog.bool_or(truncated), false) AS truncated FROM taken`;
}

/**
 * Returns SQL that counts the rows of the copy and of the table in one snapshot. `copied` and `present` leave out rows
 * with a note, because the copy does not have their last write yet. They are subtracted instead of excluded by NOT
 * EXISTS: PostgreSQL estimates almost no notes, and might compare each of them with each row.
 */
export function compareCopy(copying: ColumnCopy): Sql {
  const { table, key } = copying;
  const copy = copyTable(copying);
  const inCopy = joinWithAnd(key, ({ identity }) => sql`c.${ident(identity)} = k.${ident(identity)}`);
  const inTable = joinWithAnd(key, ({ name, identity }) => sql`t.${ident(name)} = k.${ident(identity)}`);
  return sql`WITH notes AS MATERIALIZED (SELECT * FROM ${notedTable(copying)}),
    keys AS MATERIALIZED (SELECT DISTINCT ${identities(key)} FROM notes WHERE NOT truncated),
    counted AS (SELECT (SELECT count(*) FROM ${copy}) AS of_copy, (SELECT count(*) FROM ${table}) AS of_table)
    SELECT of_copy AS count, of_copy - (SELECT count(*) FROM keys k JOIN ${copy} c ON ${inCopy}) AS copied,
      of_table - (SELECT count(*) FROM keys k JOIN ${table} t ON ${inTable}) AS present,
      EXISTS (SELECT FROM notes WHERE truncated) AS truncated FROM counted`;
}

/** Returns statements that drop the objects that the triggers used. */
export const dropNotes = (copying: ColumnCopy): Sql[] => [
  sql`DROP FUNCTION IF EXISTS ${noteFunction(copying)}()`,
  sql`DROP TABLE IF EXISTS ${notedTable(copying)}`,
  sql`DROP TABLE IF EXISTS ${lostTable(copying)}`,
];

/* Finds objects of change requests that no longer exist, after a restore or manual changes. */

/**
 * Returns requests that may still have objects in the database. Their steps are kept until those objects are removed.
 */
export async function findRequestsInPreparation(db: Queryable): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ request: string }>(
    `SELECT DISTINCT request::text AS request FROM ${ownTable('service_preparations')}`,
  );
  return new Set(rows.map(({ request }) => request));
}

interface Orphan {
  /** The UUID of the change request that created the object. */
  request: string;
  kind: 'constraint' | 'index' | 'trigger' | 'table' | 'function';
  name: string;
  /** The statement that drops the object. */
  repair: Sql;
}

interface OrphanRow extends Pick<Orphan, 'kind' | 'name'> {
  schema: string;
  /** The table that the object belongs to. Null if it belongs to none. */
  table: string | null;
}

/**
 * SQL condition: the namespace is not the schema of the copies. Names identify the request, so all other schemas are
 * searched.
 */
const IS_ELSEWHERE = sql`n.oid IS DISTINCT FROM pg_catalog.to_regnamespace(${literal(PREPARATION_SCHEMA)})::oid`;

/** SQL that selects objects of change requests, in an order in which they can be dropped. */
const FOUND = sql`
SELECT 'trigger' AS kind, t.tgname::text AS name, n.nspname::text AS schema, c.relname::text AS table
  FROM pg_catalog.pg_trigger t JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE ${IS_ELSEWHERE} AND NOT t.tgisinternal AND t.tgname ~ $1::text
UNION ALL
SELECT 'constraint', k.conname::text, n.nspname::text, c.relname::text
  FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_class c ON c.oid = k.conrelid
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE ${IS_ELSEWHERE} AND k.coninhcount = 0 AND k.contype <> 't' AND k.conname ~ $1::text
UNION ALL
SELECT 'index', c.relname::text, n.nspname::text, NULL
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE ${IS_ELSEWHERE} AND c.relkind IN ('i', 'I') AND c.relname ~ $1::text
UNION ALL
SELECT 'function', proname::text, '', NULL FROM pg_catalog.pg_proc
 WHERE pronamespace = pg_catalog.to_regnamespace(${literal(PREPARATION_SCHEMA)})::oid AND proname ~ $1::text
UNION ALL
SELECT 'table', relname::text, '', NULL FROM pg_catalog.pg_class
 WHERE relnamespace = pg_catalog.to_regnamespace(${literal(PREPARATION_SCHEMA)})::oid AND relkind = 'r' AND relname ~ $1::text`;

/** Returns objects whose request no longer exists, in an order in which they can be dropped. */
export async function findOrphans(db: Queryable): Promise<Orphan[]> {
  const living = await findRequestsInPreparation(db);
  const { rows } = await db.query<OrphanRow>(FOUND, [PREPARED_NAME]);
  return rows.flatMap((row) => {
    const { kind, name } = row;
    const request = requestOf(name);
    if (request === null || living.has(request)) return [];
    return [{ request, kind, name, repair: dropStatement(row) }];
  });
}

function dropStatement({ kind, schema, name, table }: OrphanRow): Sql {
  switch (kind) {
    case 'constraint':
      return sql`ALTER TABLE ${qualified(schema, table ?? '')} DROP CONSTRAINT ${ident(name)}`;
    case 'trigger':
      return sql`DROP TRIGGER ${ident(name)} ON ${qualified(schema, table ?? '')}`;
    case 'index':
      return sql`DROP INDEX CONCURRENTLY ${qualified(schema, name)}`;
    case 'table':
      return sql`DROP TABLE ${PREPARATION_SCHEMA}.${ident(name)}`;
    default:
      return sql`DROP FUNCTION ${PREPARATION_SCHEMA}.${ident(name)}()`;
  }
}

type CleanupContext = Pick<StepContext, 'id' | 'session' | 'schema' | 'signal'>;

/** @see PreparationEngine.cleanUp */
export async function cleanUp(context: CleanupContext, waits: LockWaits): Promise<void> {
  await dropConstraints(context, waits);
  await dropCopyTriggers(context, waits);
  await dropCopies(context);
  await dropIndexes(context);
}

interface ConstraintRow extends LocatedTable {
  name: string;
  /** The table that a foreign key references. */
  other: string | null;
  otherSchema: string;
}

interface LocatedTable {
  schema: string;
  table: string;
}

/** Returns the lock on a table found in the catalog. The lock names it `schema.table`. */
const lockOn = ({ schema, table }: LocatedTable) =>
  ({ table: `${schema}.${table}`, at: { schema, name: table }, lock: 'ACCESS EXCLUSIVE' }) as const;

const CONSTRAINTS = sql`
SELECT n.nspname::text AS schema, t.relname::text AS table, c.conname::text AS name, o.relname::text AS other, m.nspname::text AS "otherSchema"
FROM pg_catalog.pg_constraint c JOIN pg_catalog.pg_class t ON t.oid = c.conrelid
JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace
LEFT JOIN pg_catalog.pg_class o ON o.oid = c.confrelid AND o.oid <> t.oid
LEFT JOIN pg_catalog.pg_namespace m ON m.oid = o.relnamespace
WHERE ${IS_ELSEWHERE} AND c.conname ~ $1::text AND c.coninhcount = 0 AND c.contype <> 't' ORDER BY 1, 2, 3`;

async function dropConstraints(context: CleanupContext, waits: LockWaits): Promise<void> {
  const { session, id } = context;
  const { rows } = await session.query<ConstraintRow>(CONSTRAINTS, [preparedNamesOf(id)]);
  for (const { schema, table, name, other, otherSchema } of rows) {
    const tables = [{ schema, table }, ...(other === null ? [] : [{ schema: otherSchema, table: other }])];
    const locks = tables.map(lockOn).sort((a, b) => (a.table < b.table ? -1 : 1));
    const drop = sql`ALTER TABLE IF EXISTS ${qualified(schema, table)} DROP CONSTRAINT IF EXISTS ${ident(name)}`;
    await runUnderStrongLocks(context, locks, waits, { under: [drop] });
  }
}

const INDEXES: Sql = sql`
SELECT n.nspname::text AS schema, c.relname::text AS name
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE ${IS_ELSEWHERE} AND c.relname ~ $1::text AND c.relkind IN ('i', 'I') ORDER BY 1, 2`;

/** Waits for the transactions that use the index, without blocking others. */
async function dropIndexes({ session, id, signal }: CleanupContext): Promise<void> {
  const { rows } = await session.query<{ schema: string; name: string }>(INDEXES, [preparedNamesOf(id)]);
  for (const { schema, name } of rows) {
    signal.throwIfAborted();
    await session.query(sql`DROP INDEX CONCURRENTLY IF EXISTS ${qualified(schema, name)}`);
  }
}

const TRIGGERS = sql`
SELECT n.nspname::text AS schema, c.relname::text AS table, pg_catalog.array_agg(t.tgname::text ORDER BY t.tgname) AS names
FROM pg_catalog.pg_trigger t JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE ${IS_ELSEWHERE} AND t.tgname ~ $1::text AND NOT t.tgisinternal GROUP BY 1, 2 ORDER BY 1, 2`;

async function dropCopyTriggers(context: CleanupContext, waits: LockWaits): Promise<void> {
  const { session, id } = context;
  const { rows } = await session.query<LocatedTable & { names: string[] }>(TRIGGERS, [preparedNamesOf(id)]);
  for (const { schema, table, names } of rows) {
    await runUnderStrongLocks(context, [lockOn({ schema, table })], waits, {
      under: names.map((name) => sql`DROP TRIGGER IF EXISTS ${ident(name)} ON ${qualified(schema, table)}`),
    });
  }
}

const IN_ROOM = sql`
SELECT 'function' AS kind, proname::text AS name FROM pg_catalog.pg_proc
 WHERE pronamespace = pg_catalog.to_regnamespace(${literal(PREPARATION_SCHEMA)})::oid AND proname ~ $1::text
UNION ALL
SELECT 'table', relname::text FROM pg_catalog.pg_class
 WHERE relnamespace = pg_catalog.to_regnamespace(${literal(PREPARATION_SCHEMA)})::oid AND relname ~ $1::text AND relkind = 'r'`;

/** Drops the copies. Without the triggers, nothing uses them. The schema is dropped with the last copy. */
async function dropCopies({ session, id }: CleanupContext): Promise<void> {
  const { rows } = await session.query<{ kind: 'function' | 'table'; name: string }>(IN_ROOM, [preparedNamesOf(id)]);
  for (const { kind, name } of rows) {
    const place = sql`${PREPARATION_SCHEMA}.${ident(name)}`;
    await session.query(
      kind === 'table' ? sql`DROP TABLE IF EXISTS ${place}` : sql`DROP FUNCTION IF EXISTS ${place}()`,
    );
  }
  const body = sql`BEGIN DROP SCHEMA IF EXISTS ${PREPARATION_SCHEMA}; EXCEPTION WHEN dependent_objects_still_exist THEN NULL; END`;
  await session.query(sql`DO ${block(body)}`);
}
