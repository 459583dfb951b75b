/**
 * Copies a column's values while the table is in use. Triggers only record the keys of written rows, so that no
 * application write waits for the copy, conflicts with it or fails because of it. The recorded rows are read again
 * from the table and updated in the copy, the last ones under the lock of the change.
 *
 * All objects are in the trash schema of position 0, which no event has.
 */
import { type Sql, block, ident, join, literal, qualified, sql, trash } from '../ddl/sql.js';
import type { CopiedColumn } from '../ddl/statement.js';
import { preparedName } from './names.js';

/** The schema for copies until their change is applied. */
export const ROOM: Sql = trash(0);

export interface Copying {
  table: Sql;
  column: CopiedColumn;
  key: readonly CopiedColumn[];
  /** The name prefix of the objects created for the copy. */
  name: string;
}

/**
 * @param id of the change request
 * @param table its unqualified name; its schema is `schema`
 */
export function copyingOf(
  { id, schema }: { id: string; schema: string },
  { table, key: name, what }: { table: string; key: string; what: Pick<Copying, 'column' | 'key'> },
): Copying {
  return { table: qualified(schema, table), column: what.column, key: what.key, name: preparedName(id, name) };
}

const inRoom = (name: string): Sql => sql`${ROOM}.${ident(name)}`;

/** The values, in columns named by identity. */
export const copyTable = ({ name }: Copying): Sql => inRoom(name);
/** Keys of written rows, in the order of the writes. */
export const notedTable = ({ name }: Copying): Sql => inRoom(`${name}_noted`);
/** Rows that a trigger could not record, with the reason. */
export const lostTable = ({ name }: Copying): Sql => inRoom(`${name}_lost`);
const noteFunction = ({ name }: Copying): Sql => inRoom(`${name}_note`);

const list = <T>(items: readonly T[], each: (item: T) => Sql): Sql => join(items.map(each), sql`, `);
const all = <T>(items: readonly T[], each: (item: T) => Sql): Sql => join(items.map(each), sql` AND `);

const identities = (columns: readonly CopiedColumn[]): Sql => list(columns, ({ identity }) => ident(identity));

/** Creates the schema, its tables and the function. Locks nothing that others use. */
export function createCopy(copying: Copying): Sql[] {
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

/** Never raises an error: an application's write is more important than the preparation. */
function noteBody(copying: Copying): Sql {
  const { key, column } = copying;
  const note = sql`INSERT INTO ${notedTable(copying)} SELECT`;
  const keyOf = (row: Sql): Sql => list(key, ({ name }) => sql`${row}.${ident(name)}`);
  const value = ident(column.name);
  const isSame = sql`${all(key, ({ name }) => sql`o.${ident(name)} = n.${ident(name)}`)} AND ROW(o.${value})::record *= ROW(n.${value})::record`;
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

/** One trigger per kind of write, including TRUNCATE. */
export const triggerNames = ({ name }: Pick<Copying, 'name'>): string[] =>
  EVENTS.map(({ suffix }) => `${name}${suffix}`);

/** Under SHARE ROW EXCLUSIVE, which waits for all writers: after its commit, no write is missed. */
export function createTriggers(copying: Copying): Sql[] {
  const { table, name } = copying;
  return EVENTS.flatMap(({ suffix, on, rows }) => {
    const trigger = ident(`${name}${suffix}`);
    return [
      sql`CREATE TRIGGER ${trigger} AFTER ${on} ON ${table}${rows} FOR EACH STATEMENT EXECUTE FUNCTION ${noteFunction(copying)}()`,
      // Also for sessions whose session_replication_role is replica.
      sql`ALTER TABLE ${table} ENABLE ALWAYS TRIGGER ${trigger}`,
    ];
  });
}

/** IF EXISTS: some may never have been created. */
export const dropTriggers = ({ table, name }: Pick<Copying, 'table' | 'name'>): Sql[] =>
  EVENTS.map(({ suffix }) => sql`DROP TRIGGER IF EXISTS ${ident(`${name}${suffix}`)} ON ${table}`);

/**
 * Copies rows after a key, in key order. Returns their number and the last key. A row may already exist.
 * @param after the last key of the previous batch, as literals; null: from the beginning
 */
export function copyBatch(copying: Copying, after: readonly string[] | null, rows: Sql): Sql {
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

function upsert(copying: Copying, from: Sql): Sql {
  const { key, column } = copying;
  const columns = identities([...key, column]);
  const value = ident(column.identity);
  return sql`INSERT INTO ${copyTable(copying)} (${columns}) SELECT ${columns} FROM ${from}
    ON CONFLICT (${identities(key)}) DO UPDATE SET ${value} = excluded.${value}`;
}

/**
 * Reads the noted rows again and updates the copy. One snapshot sees a note and its write, or neither. Returns the
 * number of notes and whether the table was truncated. Each row is looked up by key separately: after a VACUUM of an
 * empty notes table, PostgreSQL estimates almost no notes.
 */
export function followNotes(copying: Copying, most: Sql): Sql {
  const { table, key, column } = copying;
  const noted = notedTable(copying);
  const match = (a: Sql, b: Sql): Sql =>
    all(key, ({ identity }) => sql`${a}.${ident(identity)} = ${b}.${ident(identity)}`);
  const ofRow = all(key, ({ name, identity }) => sql`t.${ident(name)} = k.${ident(identity)}`);
  const keys = list(key, ({ identity }) => sql`k.${ident(identity)}`);
  return sql`WITH taken AS (DELETE FROM ${noted} WHERE ctid = ANY (ARRAY(SELECT ctid FROM ${noted} LIMIT ${most})) RETURNING *),
    keys AS MATERIALIZED (SELECT DISTINCT ${identities(key)} FROM taken WHERE NOT truncated),
    found AS MATERIALIZED (SELECT ${keys}, t.${ident(column.name)} AS ${ident(column.identity)}, t.tableoid IS NOT NULL AS is_there
      FROM keys k LEFT JOIN ${table} t ON ${ofRow}),
    kept AS (${upsert(copying, sql`found WHERE is_there`)}),
    gone AS (DELETE FROM ${copyTable(copying)} c USING found f WHERE NOT f.is_there AND ${match(sql`c`, sql`f`)})
    SELECT count(*)::int AS notes, coalesce(pg_catalog.bool_or(truncated), false) AS truncated FROM taken`;
}

/** The objects that the triggers used. */
export const dropNotes = (copying: Copying): Sql[] => [
  sql`DROP FUNCTION IF EXISTS ${noteFunction(copying)}()`,
  sql`DROP TABLE IF EXISTS ${notedTable(copying)}`,
  sql`DROP TABLE IF EXISTS ${lostTable(copying)}`,
];
