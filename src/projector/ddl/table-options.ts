/* SQL for options of tables: storage parameters, UNLOGGED and the replica identity. */
import { type SchemaObject, objectNameParts } from '../../schema/model/objects.js';
import { parseDefinition } from '../../schema/sql-text/object-definition.js';
import { NO_OPTIONS, TOAST, type TableOptions } from '../../schema/sql-text/table-options.js';
import { type Sql, block, ident, join, literal, qualified, sql } from './sql.js';

const IS_UNLOGGED = sql`(c.relkind = 'r' AND c.relpersistence = 'u')`;

/** SQL condition: the table `c` has options that the service manages. */
export const HAS_TABLE_OPTIONS: Sql = sql`(c.relkind IN ('r', 'p') AND (c.reloptions IS NOT NULL OR ${IS_UNLOGGED}
    OR c.relreplident IN ('f', 'n')
    OR EXISTS (SELECT FROM pg_catalog.pg_class t WHERE t.oid = c.reltoastrelid AND t.reloptions IS NOT NULL)))`;

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
    CASE c.relreplident WHEN 'f' THEN 'REPLICA IDENTITY FULL' WHEN 'n' THEN 'REPLICA IDENTITY NOTHING' END)`;

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

/**
 * Returns the statements that give a table the options of an object, and check that it has exactly those afterwards.
 * @param before the object before, or null for a new one
 */
export function setTableOptions(schema: string, before: SchemaObject | null, object: SchemaObject): OptionStep[] {
  const [old, now] = [optionsOf(before), optionsOf(object)];
  const { name, table } = tableOf(schema, object);
  const lock = lockBetween(old, now);
  const check = { text: checkOptions(table, now), summary: `check the options of ${name}`, lock, rewrites: false };
  return [...changeOptions(table, [old, now], `set options of ${name}`), check];
}

/**
 * Returns the statement that gives a table PostgreSQL's defaults.
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
  return { name, table: qualified(schema, name) };
}

function changeOptions(table: Sql, [old, now]: readonly [TableOptions, TableOptions], summary: string): OptionStep[] {
  const commands = commandsBetween(old, now);
  if (commands.length === 0) return [];
  const text = sql`ALTER TABLE ${table} ${join(commands, sql`, `)}`;
  return [{ text, summary, lock: lockBetween(old, now), rewrites: old.isUnlogged !== now.isUnlogged }];
}

function lockBetween(old: TableOptions, now: TableOptions): OptionStep['lock'] {
  const isStrong = old.isUnlogged !== now.isUnlogged || old.replicaIdentity !== now.replicaIdentity;
  return isStrong || [old, now].some(needsStrongLock) ? 'ACCESS EXCLUSIVE' : 'SHARE UPDATE EXCLUSIVE';
}

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
 * Rejects other options, which somebody set before by hand, and parameters that PostgreSQL ignores: those of the TOAST
 * table if there is none, and UNLOGGED of a partitioned table before release 18.
 */
function checkOptions(table: Sql, { parameters, isUnlogged, replicaIdentity }: TableOptions): Sql {
  const expected = join(
    [...parameters].map(([name, value]) => literal(`${name}=${value}`)),
    sql`, `,
  );
  const found = sql`ARRAY(SELECT p.prefix || p.name || '=' || p.value FROM ${PARAMETERS})`;
  const letter = { FULL: sql`'f'`, NOTHING: sql`'n'`, DEFAULT: sql`NULL` }[replicaIdentity ?? 'DEFAULT'];
  return sql`DO ${block(sql`DECLARE found text;
  BEGIN
    SELECT coalesce(nullif(${TABLE_OPTIONS_TAIL}, ''), 'none') INTO found FROM pg_catalog.pg_class c
     WHERE c.oid = ${literal(table)}::regclass::oid AND NOT (
       ${found} <@ ARRAY[${expected}]::text[] AND ARRAY[${expected}]::text[] <@ ${found}
       AND ${IS_UNLOGGED} = ${isUnlogged ? sql`true` : sql`false`}
       AND (CASE WHEN c.relreplident IN ('f', 'n') THEN c.relreplident END) IS NOT DISTINCT FROM ${letter}::"char");
    IF found IS NOT NULL THEN RAISE EXCEPTION USING ERRCODE = 'object_not_in_prerequisite_state', MESSAGE =
      'the options of the table would be ' || found || ', not those of the change. Adopt or reset the options that it has, and leave out those that PostgreSQL does not support for it';
    END IF;
  END`)}`;
}
