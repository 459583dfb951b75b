/* SQL for options of tables: storage parameters, UNLOGGED, the replica identity and settings of columns. */
import type { SchemaObject } from '../../schema/model/object-document.js';
import { objectNameParts } from '../../schema/model/object-ids.js';
import { parseDefinition } from '../../schema/sql-text/object-definition.js';
import { type ColumnSetting, NO_OPTIONS, TOAST, type TableOptions } from '../../schema/sql-text/table-options.js';
import { type Sql, block, ident, integer, join, literal, relationSql, sql } from './sql.js';

/** SQL for the word of SET STORAGE. @param letter a value of `attstorage` or `typstorage` */
export const storageWord = (letter: Sql): Sql =>
  sql`CASE ${letter} WHEN 'p' THEN 'PLAIN' WHEN 'e' THEN 'EXTERNAL' WHEN 'm' THEN 'MAIN' ELSE 'EXTENDED' END`;

/** SQL for the settings of the columns of the table `c`. */
const SETTINGS = sql`(
    SELECT a.attname::text, o.name, o.value FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid,
           LATERAL (SELECT * FROM (VALUES ('statistics', CASE WHEN a.attstattarget >= 0 THEN a.attstattarget::text END),
             ('storage', CASE WHEN a.attstorage <> t.typstorage THEN ${storageWord(sql`a.attstorage`)} END),
             ('compression', CASE a.attcompression WHEN 'p' THEN 'pglz' WHEN 'l' THEN 'lz4' END)) v (name, value)
             UNION ALL SELECT x.option_name, x.option_value FROM pg_catalog.pg_options_to_table(a.attoptions) x) o
     WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND o.value IS NOT NULL) s ("column", name, value)`;

const IS_UNLOGGED = sql`(c.relkind = 'r' AND c.relpersistence = 'u')`;

/** SQL condition: the table `c` has options that the service manages. */
export const HAS_TABLE_OPTIONS: Sql = sql`(c.relkind IN ('r', 'p') AND (c.reloptions IS NOT NULL OR ${IS_UNLOGGED}
    OR c.relreplident IN ('f', 'n')
    OR EXISTS (SELECT FROM pg_catalog.pg_class t WHERE t.oid = c.reltoastrelid AND t.reloptions IS NOT NULL)
    OR EXISTS (SELECT FROM ${SETTINGS})))`;

/** SQL for the storage parameters of the table `c` and of its TOAST table: the prefix, the name and the value. */
const PARAMETERS = sql`(
    SELECT '', o.option_name, o.option_value FROM pg_catalog.pg_options_to_table(c.reloptions) o
    UNION ALL
    SELECT ${literal(TOAST)}, o.option_name, o.option_value
      FROM pg_catalog.pg_class t, pg_catalog.pg_options_to_table(t.reloptions) o WHERE t.oid = c.reltoastrelid) p (prefix, name, value)`;

/** SQL for the definition of the options of the table `c` after the table. */
export const TABLE_OPTIONS_TAIL: Sql = sql`pg_catalog.concat_ws(', ',
    'SET (' || (SELECT pg_catalog.string_agg(p.prefix || pg_catalog.quote_ident(p.name) || '=' || pg_catalog.quote_literal(p.value), ', '
        ORDER BY p.prefix COLLATE "C", p.name COLLATE "C") FROM ${PARAMETERS}) || ')',
    CASE WHEN ${IS_UNLOGGED} THEN 'SET UNLOGGED' END,
    CASE c.relreplident WHEN 'f' THEN 'REPLICA IDENTITY FULL' WHEN 'n' THEN 'REPLICA IDENTITY NOTHING' END,
    (SELECT pg_catalog.string_agg('ALTER COLUMN ' || pg_catalog.quote_ident(s."column") || ' SET ' || CASE s.name WHEN 'statistics' THEN 'STATISTICS ' || s.value
        WHEN 'storage' THEN 'STORAGE ' || s.value WHEN 'compression' THEN 'COMPRESSION ' || s.value
        ELSE '(' || pg_catalog.quote_ident(s.name) || '=' || pg_catalog.quote_literal(s.value) || ')' END, ', '
        ORDER BY s."column" COLLATE "C", s.name COLLATE "C") FROM ${SETTINGS}))`;

/** The options of an object. Those of none are the defaults of PostgreSQL. */
function optionsOf(object: SchemaObject | null): TableOptions {
  const parsed = object === null ? '' : parseDefinition(object.definition);
  return typeof parsed === 'string' ? NO_OPTIONS : (parsed.tableOptions ?? NO_OPTIONS);
}

export interface OptionStep {
  text: Sql;
  summary: string;
  lock: 'SHARE UPDATE EXCLUSIVE' | 'ACCESS EXCLUSIVE';
  rewrites: boolean;
}

interface OptionChange {
  /** The object before, or null for a new one. */
  before: SchemaObject | null;
  object: SchemaObject;
}

/**
 * Returns the statements that give a table the options of an object, and check that it has exactly those afterwards.
 * They run after `resetColumnSettings` and after the statements about columns.
 * @param changed the columns that changed. PostgreSQL resets storage and compression of a column that gets a new type.
 */
export function setTableOptions(
  schema: string,
  { before, object }: OptionChange,
  changed: ReadonlySet<string>,
): OptionStep[] {
  const [old, now] = [optionsOf(before), optionsOf(object)];
  const { name, table } = tableOf(schema, object);
  const kept = new Map(
    [...old.columns].filter(([key, each]) => now.columns.has(key) && !(changed.has(each.column) && isStrong(each))),
  );
  const from = { ...old, columns: kept };
  const lock = lockBetween(from, now);
  const check = { text: checkOptions(table, now), summary: `check the options of ${name}`, lock, rewrites: false };
  return [...changeOptions(table, [from, now], `set options of ${name}`), check];
}

/** Returns the statements that set storage and compression again for columns that changed. */
export function keepColumnSettings(schema: string, object: SchemaObject, changed: ReadonlySet<string>): OptionStep[] {
  const isReset = [...optionsOf(object).columns.values()].some((each) => changed.has(each.column) && isStrong(each));
  return isReset ? setTableOptions(schema, { before: object, object }, changed) : [];
}

/** Returns the statements that reset settings of columns. They run before columns are renamed or dropped. */
export function resetColumnSettings(schema: string, before: SchemaObject, object: SchemaObject): OptionStep[] {
  const [old, now] = [optionsOf(before), optionsOf(object)];
  const { name, table } = tableOf(schema, before);
  const kept = new Map([...old.columns].filter(([key]) => now.columns.has(key)));
  return changeOptions(table, [old, { ...old, columns: kept }], `reset settings of columns of ${name}`);
}

/**
 * Returns the statements that give a table PostgreSQL's defaults.
 * @param withTable true if the table is deleted too. It stays unlogged then, because PostgreSQL would rewrite it otherwise.
 */
export function resetTableOptions(schema: string, object: SchemaObject, withTable: boolean): OptionStep[] {
  const old = optionsOf(object);
  const { name, table } = tableOf(schema, object);
  return changeOptions(
    table,
    [old, { ...NO_OPTIONS, isUnlogged: withTable && old.isUnlogged }],
    `reset options of ${name}`,
  );
}

function tableOf(schema: string, object: SchemaObject): { name: string; table: Sql } {
  const name = objectNameParts(object).table ?? '';
  return { name, table: relationSql(schema, name) };
}

function changeOptions(table: Sql, [old, now]: readonly [TableOptions, TableOptions], summary: string): OptionStep[] {
  const lost = [...old.columns].flatMap(([key, each]) => (now.columns.has(key) ? [] : [each]));
  const commands = [
    ...commandsBetween(old, now),
    ...lost.flatMap(resetSetting),
    ...addedSettings(old, now).map(setSetting),
  ];
  const rewrites = old.isUnlogged !== now.isUnlogged;
  // Without ONLY, PostgreSQL would change the settings in partitions and inheriting tables too.
  const alter = sql`ALTER TABLE ONLY ${table} ${join(commands, sql`, `)}`;
  const texts = [
    ...(commands.length === 0 ? [] : [alter]),
    ...lost.filter(({ name }) => name === 'storage').map((each) => resetStorage(table, each)),
  ];
  return texts.map((text, index) => ({
    text,
    summary,
    lock: lockBetween(old, now),
    rewrites: rewrites && index === 0,
  }));
}

const addedSettings = (old: TableOptions, now: TableOptions): ColumnSetting[] =>
  [...now.columns].flatMap(([key, each]) => (old.columns.get(key)?.value === each.value ? [] : [each]));

function setSetting({ column, name, value }: ColumnSetting): Sql {
  const start = sql`ALTER COLUMN ${ident(column)} SET`;
  switch (name) {
    case 'statistics':
      return sql`${start} STATISTICS ${integer(value)}`;
    case 'storage':
      return sql`${start} STORAGE ${ident(value.toLowerCase())}`;
    case 'compression':
      return sql`${start} COMPRESSION ${ident(value)}`;
    default:
      return sql`${start} (${ident(name)} = ${literal(value)})`;
  }
}

function resetSetting({ column, name }: ColumnSetting): Sql[] {
  const alter = sql`ALTER COLUMN ${ident(column)}`;
  if (name === 'statistics') return [sql`${alter} SET STATISTICS -1`];
  if (name === 'compression') return [sql`${alter} SET COMPRESSION DEFAULT`];
  return name === 'storage' ? [] : [sql`${alter} RESET (${ident(name)})`];
}

/** PostgreSQL has SET STORAGE DEFAULT only in release 16 and later. */
function resetStorage(table: Sql, { column }: ColumnSetting): Sql {
  const alter = sql`ALTER TABLE ONLY ${table} ALTER COLUMN ${ident(column)} SET STORAGE `;
  return sql`DO ${block(sql`BEGIN EXECUTE ${literal(alter)} || (SELECT ${storageWord(sql`t.typstorage`)}
    FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
   WHERE a.attrelid = ${literal(table)}::regclass::oid AND a.attname = ${literal(column)}); END`)}`;
}

function lockBetween(old: TableOptions, now: TableOptions): OptionStep['lock'] {
  const isAltered = old.isUnlogged !== now.isUnlogged || old.replicaIdentity !== now.replicaIdentity;
  const settings = [...addedSettings(old, now), ...addedSettings(now, old)];
  return isAltered || [old, now].some(needsStrongLock) || settings.some(isStrong)
    ? 'ACCESS EXCLUSIVE'
    : 'SHARE UPDATE EXCLUSIVE';
}

/** True for the settings that need the strongest lock. A new type resets them. */
const isStrong = ({ name }: ColumnSetting): boolean => name === 'storage' || name === 'compression';

/** The one parameter for which PostgreSQL locks out readers. */
const needsStrongLock = ({ parameters }: TableOptions): boolean => parameters.has('user_catalog_table');

function commandsBetween(old: TableOptions, now: TableOptions): Sql[] {
  const reset = [...old.parameters.keys()].filter((name) => !now.parameters.has(name));
  const set = [...now.parameters].filter(([name, value]) => old.parameters.get(name) !== value);
  return [
    ...(reset.length === 0 ? [] : [sql`RESET (${join(reset.map(parameterName), sql`, `)})`]),
    ...(set.length === 0
      ? []
      : [
          sql`SET (${join(
            set.map(([name, value]) => sql`${parameterName(name)} = ${literal(value)}`),
            sql`, `,
          )})`,
        ]),
    ...(old.isUnlogged === now.isUnlogged ? [] : [now.isUnlogged ? sql`SET UNLOGGED` : sql`SET LOGGED`]),
    ...(old.replicaIdentity === now.replicaIdentity
      ? []
      : [sql`REPLICA IDENTITY ${IDENTITIES[now.replicaIdentity ?? 'DEFAULT']}`]),
  ];
}

const IDENTITIES = { FULL: sql`FULL`, NOTHING: sql`NOTHING`, DEFAULT: sql`DEFAULT` } as const;

const parameterName = (name: string): Sql =>
  name.startsWith(TOAST) ? sql`toast.${ident(name.slice(TOAST.length))}` : ident(name);

/**
 * Rejects other options, which someone set before by hand, and parameters that PostgreSQL ignores: those of the TOAST
 * table if there is none, and UNLOGGED of a partitioned table before release 18.
 */
function checkOptions(table: Sql, { parameters, isUnlogged, replicaIdentity, columns }: TableOptions): Sql {
  const expected = join(
    [...parameters].map(([name, value]) => literal(`${name}=${value}`)),
    sql`, `,
  );
  const found = sql`ARRAY(SELECT p.prefix || p.name || '=' || p.value FROM ${PARAMETERS})`;
  const settings = [...columns.values()].map(
    ({ column, name, value }) => sql`(${literal(column)}, ${literal(name)}, ${literal(value)})`,
  );
  const hasOthers =
    settings.length === 0
      ? sql`EXISTS (SELECT FROM ${SETTINGS})`
      : sql`EXISTS (SELECT FROM ${SETTINGS} WHERE (s."column", s.name, s.value) NOT IN (VALUES ${join(settings, sql`, `)}))`;
  const letter = { FULL: sql`'f'`, NOTHING: sql`'n'`, DEFAULT: sql`NULL` }[replicaIdentity ?? 'DEFAULT'];
  return sql`DO ${block(sql`DECLARE found text;
  BEGIN
    SELECT coalesce(nullif(${TABLE_OPTIONS_TAIL}, ''), 'none') INTO found FROM pg_catalog.pg_class c
     WHERE c.oid = ${literal(table)}::regclass::oid AND NOT (
       ${found} <@ ARRAY[${expected}]::text[] AND ARRAY[${expected}]::text[] <@ ${found}
       AND ${IS_UNLOGGED} = ${isUnlogged ? sql`true` : sql`false`}
       AND (SELECT pg_catalog.count(*) FROM ${SETTINGS}) = ${integer(String(settings.length))} AND NOT ${hasOthers}
       AND (CASE WHEN c.relreplident IN ('f', 'n') THEN c.relreplident END) IS NOT DISTINCT FROM ${letter}::"char");
    IF found IS NOT NULL THEN RAISE EXCEPTION USING ERRCODE = 'object_not_in_prerequisite_state', MESSAGE =
      'the options of the table would be ' || found || ', not those of the change. Adopt or reset the options that it has, and leave out those that PostgreSQL does not support for it';
    END IF;
  END`)}`;
}
