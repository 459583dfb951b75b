/**
 * The copy of a column's values while the table is used. Triggers note the keys of the rows that are written, and nothing
 * else: so that no write of an application waits for the copy, conflicts with it, or fails because of it. What was
 * noted is read again from the table and put into the copy, the last of it under the lock of the change.
 *
 * All of it stands in the trash's room of position 0, which no event has.
 */
import { type Sql, block, ident, join, literal, qualified, sql, trash } from '../ddl/sql.js';
import type { CopiedColumn } from '../ddl/statement.js';
import { preparedName } from './names.js';

/** Where copies are until their change is made. */
export const ROOM: Sql = trash(0);

export interface Copying {
  /** The table, qualified. */
  table: Sql;
  column: CopiedColumn;
  /** Its primary key. */
  key: readonly CopiedColumn[];
  /** What the objects are called that are made for it. */
  name: string;
}

/** @param id of the change request @param table its name alone; its schema is `schema` */
export function copyingOf(
  { id, schema }: { id: string; schema: string },
  { table, key: name, what }: { table: string; key: string; what: Pick<Copying, 'column' | 'key'> },
): Copying {
  return { table: qualified(schema, table), column: what.column, key: what.key, name: preparedName(id, name) };
}

const inRoom = (name: string): Sql => sql`${ROOM}.${ident(name)}`;

/** Where the values are, by the identities of their columns. */
export const copyTable = ({ name }: Copying): Sql => inRoom(name);
/** Keys of rows that were written, as they come. */
export const notedTable = ({ name }: Copying): Sql => inRoom(`${name}_noted`);
/** What a trigger could not note, and why. */
export const lostTable = ({ name }: Copying): Sql => inRoom(`${name}_lost`);
const noteFunction = ({ name }: Copying): Sql => inRoom(`${name}_note`);

const list = <T>(items: readonly T[], each: (item: T) => Sql): Sql => join(items.map(each), sql`, `);
const all = <T>(items: readonly T[], each: (item: T) => Sql): Sql => join(items.map(each), sql` AND `);

const identities = (columns: readonly CopiedColumn[]): Sql => list(columns, ({ identity }) => ident(identity));

/** The room, its tables and the function. Locks nothing that others use. */
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

/** Never an error: an application's write is worth more than the preparation. */
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

/** One for each kind of statement that writes, TRUNCATE too. */
export const triggerNames = ({ name }: Pick<Copying, 'name'>): string[] =>
  EVENTS.map(({ suffix }) => `${name}${suffix}`);

/** Under SHARE ROW EXCLUSIVE, which waits for all who write: from its commit on, nothing is missed. */
export function createTriggers(copying: Copying): Sql[] {
  const { table, name } = copying;
  return EVENTS.flatMap(({ suffix, on, rows }) => {
    const trigger = ident(`${name}${suffix}`);
    return [
      sql`CREATE TRIGGER ${trigger} AFTER ${on} ON ${table}${rows} FOR EACH STATEMENT EXECUTE FUNCTION ${noteFunction(copying)}()`,
      // Also of sessions whose session_replication_role is replica.
      sql`ALTER TABLE ${table} ENABLE ALWAYS TRIGGER ${trigger}`,
    ];
  });
}

/** IF EXISTS: some may never have been made. */
export const dropTriggers = ({ table, name }: Pick<Copying, 'table' | 'name'>): Sql[] =>
  EVENTS.map(({ suffix }) => sql`DROP TRIGGER IF EXISTS ${ident(`${name}${suffix}`)} ON ${table}`);

/**
 * Copies rows behind a key, in the order of the key. Answers how many, and the last key. A row may be there already.
 * @param after the last key of the batch before, as literals; null: from the beginning
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
 * Reads again what was noted, and brings the copy up to it: one snapshot sees a note and what was written with it, or
 * neither. Answers how many notes, and whether the table was truncated. Each row is looked up by its key alone, as
 * PostgreSQL may think that there are next to no notes: after a VACUUM when there were none.
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

/** What the triggers needed. */
export const dropNotes = (copying: Copying): Sql[] => [
  sql`DROP FUNCTION IF EXISTS ${noteFunction(copying)}()`,
  sql`DROP TABLE IF EXISTS ${notedTable(copying)}`,
  sql`DROP TABLE IF EXISTS ${lostTable(copying)}`,
];
