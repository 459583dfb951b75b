/* Finds which rows made PostgreSQL reject a change: the counting query and the wording of its result. */
import type { ColumnSchema, Field } from '../../schema/model/model.js';
import { columnType } from '../../schema/normal-form/index.js';
import { type Backfill, sourceOf } from '../../schema/model/backfill.js';
import type { RestoredCollection } from '../../schema/model/events.js';
import type { Problem } from '../../kernel/problem.js';
import {
  type ColumnField,
  hasColumn,
  type State,
  getField,
  getRelation,
  type CollectionNode,
  locateTable,
  tableNameOf,
  extrasOf,
  tablesBySchema,
} from '../../schema/model/state.js';
import { type ForeignKeyRelation, hasForeignKey, referencedColumns } from '../ddl/create-table.js';
import { type Sql, ident, integer, literal, qualified, sql, targetTable, trashOf, join, tableIn } from '../ddl/sql.js';
import { kindOf } from '../ddl/type-change.js';
import { SQLSTATE } from '../../postgres/errors.js';
import { jsonEqual } from '../../kernel/json.js';
import { addArticle } from '../../kernel/text.js';
import { objectNames } from '../ddl/column.js';
import { identitySequenceName } from '../../schema/model/constraint-names.js';

/** Maximum number of rows to count. An error must not scan a large table to the end. */
const ENOUGH = 1_000;

export interface RejectedBatch {
  problem: Problem;
  /** The schemas before and after the change. */
  before: State;
  after: State;
  schema: string;
  /** Tables that the change restores. Until then they are in the trash under their previous names. */
  restored?: ReadonlyMap<string, Pick<RestoredCollection, 'position' | 'name' | 'kept_in'>>;
  /** How the rejected event fills rows. */
  backfill?: Backfill | undefined;
}

export interface OffendingRows {
  /** A query that returns one row `{count}`, at most one more than `ENOUGH`. It needs only a read lock. */
  question: Sql;
  /** Names the kind of violation for programs: `null`, `repeated` … */
  kind: string;
  /** Describes the rows for people, in singular and plural. */
  words: readonly [one: string, several: string];
}

/** Returns the query for the rows. Null if rows did not cause the error, or if they can no longer be identified. */
export function offendingRowsOf(refused: RejectedBatch): OffendingRows | null {
  const { problem, after } = refused;
  const ask = QUESTIONS.get(String(problem.details?.['sqlstate']));
  if (ask === undefined || problem.collection === undefined || problem.field === undefined) return null;
  const { collection, field } = problem;
  const held = stateOf(refused, collection);
  if (!held.collections.get(collection)?.collection.schema) return null;
  // Other violations are those of the filled rows, which the rollback has removed.
  if (refused.backfill !== undefined && ask !== findNulls) return null;
  return ask({
    table: tableNow(refused, collection),
    column: ident(field),
    old: getField(held, collection, field),
    now: getField(after, collection, field),
    refused,
  });
}

/** Returns the state that describes the current rows. A table restored from the trash already has its columns. */
const stateOf = ({ before, after, restored }: RejectedBatch, collection: string): State =>
  restored?.has(collection) === true ? after : before;

/** Returns the current location of the queried or referenced table. */
function tableNow({ schema, before, restored }: RejectedBatch, collection: string): Sql {
  const restoredName = restored?.get(collection);
  return restoredName === undefined
    ? targetTable(before, collection, schema)
    : qualified(trashOf(restoredName), restoredName.name);
}

/** Adds the count to the message and details of the problem, if there is one. */
export function addRowCount(problem: Problem, { kind, words }: OffendingRows, count: number): Problem {
  if (count === 0) return problem;
  const more = count > ENOUGH;
  const number = more ? `at least ${ENOUGH.toLocaleString('en')}` : count.toLocaleString('en');
  const offending = { kind, count: Math.min(count, ENOUGH), more };
  return {
    ...problem,
    message: `${problem.message} (${number} ${words[count === 1 ? 0 : 1]})`,
    details: { ...problem.details, offending },
  };
}

interface RefusedChange {
  table: Sql;
  column: Sql;
  old: Field | undefined;
  now: Field | undefined;
  refused: RejectedBatch;
}

type FindOffendingRows = (change: RefusedChange) => OffendingRows | null;

/** Functions that find offending rows, keyed by SQLSTATE. */
const QUESTIONS = new Map<string, FindOffendingRows>([
  ['23502', findNulls],
  ['23505', findRepetitions],
  ['23503', findOrphans],
  ['22001', findTooLong],
  ['22003', findOutOfRange],
  ['22P02', findUnreadable],
  ['22007', findUnreadable],
  ['22008', findUnreadable],
]);

const countRowsOf = (rows: Sql): Sql =>
  sql`SELECT count(*)::int AS count FROM (${rows} LIMIT ${integer(String(ENOUGH + 1))}) AS offending`;

const rowsWhere = ({ table }: Pick<RefusedChange, 'table'>, condition: Sql): Sql =>
  countRowsOf(sql`SELECT FROM ${table} WHERE ${condition}`);

const isNull = (name: Sql): Sql => sql`${name} IS NOT DISTINCT FROM NULL`;

function findNulls({ table, column, old, refused: { backfill } }: RefusedChange): OffendingRows | null {
  const source = backfill && sourceOf(backfill);
  if (backfill !== undefined && source === undefined) return null;
  // Without the column, every existing row lacks a value.
  const conditions = [...(hasColumn(old) ? [column] : []), ...(source === undefined ? [] : [ident(source)])].map(
    isNull,
  );
  const words = hasColumn(old)
    ? (['row is null', 'rows are null'] as const)
    : (['row would have no value', 'rows would have no value'] as const);
  const question =
    conditions.length === 0
      ? countRowsOf(sql`SELECT FROM ${table}`)
      : rowsWhere({ table }, join(conditions, sql` AND `));
  return { question, kind: 'null', words };
}

function findRepetitions({ table, column, old, now }: RefusedChange): OffendingRows | null {
  if (!hasColumn(old) && hasColumn(now) && now.schema.generation_expression === null) {
    const words = ['row would have the same value', 'rows would have the same value'] as const;
    return { question: countRowsOf(sql`SELECT FROM ${table}`), kind: 'repeated', words };
  }
  if (!hasColumn(old) || !hasColumn(now) || columnType(old.schema) !== columnType(now.schema)) return null;
  const repeated = sql`SELECT FROM ${table} WHERE ${column} IS DISTINCT FROM NULL GROUP BY ${column} HAVING count(*) > 1`;
  const words = ['value occurs more than once', 'values occur more than once'] as const;
  return { question: countRowsOf(repeated), kind: 'repeated', words };
}

function findOrphans({ table, refused }: RefusedChange): OffendingRows | null {
  const { problem, after } = refused;
  const relation = getRelation(after, problem.collection ?? '', problem.field ?? '');
  if (!hasForeignKey(relation) || !isReadable(relation, stateOf(refused, relation.many_collection))) return null;
  const [key] = referencedColumns(relation, after);
  if (key === undefined) return null;
  const many = ident(relation.many_field);
  const one = sql`SELECT FROM ${tableNow(refused, relation.one_collection)} o WHERE o.${ident(key)} = m.${many}`;
  const rows = sql`SELECT FROM ${table} m WHERE m.${many} IS DISTINCT FROM NULL AND NOT EXISTS (${one})`;
  const words = ['row has no referenced row', 'rows have no referenced row'] as const;
  return { question: countRowsOf(rows), kind: 'orphaned', words };
}

const isReadable = ({ many_collection, many_field }: ForeignKeyRelation, held: State): boolean =>
  hasColumn(getField(held, many_collection, many_field));

function findTooLong(change: RefusedChange): OffendingRows | null {
  const { old, now, column } = change;
  const limit = hasColumn(now) ? now.schema.max_length : null;
  if (!hasColumn(old) || limit === null) return null;
  // Trailing blanks are truncated without an error, as the SQL standard requires.
  const condition = sql`pg_catalog.char_length(pg_catalog.rtrim(${column}::text, ' ')) > ${integer(String(limit))}`;
  const words = [`value is longer than ${limit}`, `values are longer than ${limit}`] as const;
  return { question: rowsWhere(change, condition), kind: 'too_long', words };
}

const CAN_NOT_BE = (to: ColumnField) => {
  const type = columnType(to.schema);
  return [`value cannot be converted to ${type}`, `values cannot be converted to ${type}`] as const;
};

/**
 * Finds strings that do not parse as the new type. Only PostgreSQL 16 and later support this check; before, the query
 * fails and no count is shown.
 */
function findUnreadable(change: RefusedChange): OffendingRows | null {
  const { old, now, column } = change;
  if (!hasColumn(old) || !hasColumn(now)) return null;
  const text = sql`${column}::text`;
  const condition = sql`NOT pg_catalog.pg_input_is_valid(${text}, ${literal(columnType(now.schema))})`;
  return { question: rowsWhere(change, condition), kind: 'unreadable', words: CAN_NOT_BE(now) };
}

const WHOLE_BITS = new Map([
  ['smallint', '15'],
  ['integer', '31'],
  ['bigint', '63'],
]);

function findOutOfRange(change: RefusedChange): OffendingRows | null {
  const { old, now, column } = change;
  if (!hasColumn(old) || !hasColumn(now)) return null;
  if (kindOf(old.schema) !== 'number') return findUnreadable(change);
  const condition = outOfRangeCondition(now.schema, sql`${column}::numeric`);
  if (condition === null) return null;
  return { question: rowsWhere(change, condition), kind: 'out_of_range', words: CAN_NOT_BE(now) };
}

function outOfRangeCondition({ data_type, numeric_precision, numeric_scale }: ColumnSchema, value: Sql): Sql | null {
  const bits = WHOLE_BITS.get(data_type);
  if (bits !== undefined) {
    const bound = sql`(2::numeric ^ ${integer(bits)})`;
    return sql`pg_catalog.round(${value}) NOT BETWEEN - ${bound} AND ${bound} - 1`;
  }
  if (data_type === 'real') return outOfRealRangeCondition(value);
  if (data_type !== 'numeric' || numeric_precision === null) return null;
  const scale = numeric_scale ?? 0;
  const digits = integer(String(numeric_precision - scale));
  return sql`pg_catalog.abs(pg_catalog.round(${value}, ${integer(String(scale))})) >= 10::numeric ^ ${digits} AND ${value} <> 'NaN'`;
}

/** Matches values that IEEE 754 rounds to infinity or to zero (up to 2^-150) as binary32. PostgreSQL rejects both. */
function outOfRealRangeCondition(value: Sql): Sql {
  const large = sql`pg_catalog.abs(${value}) >= 2::numeric ^ 128 - 2::numeric ^ 103 AND pg_catalog.abs(${value}) < 'Infinity'`;
  return sql`${large} OR ${value} <> 0 AND pg_catalog.abs(${value}) <= 7.00649232162408535461864791644958e-46`;
}

/* Finds the object that already uses a name. PostgreSQL reports only that the name is taken. */

const TAKEN: ReadonlySet<unknown> = new Set([
  SQLSTATE.duplicate_table,
  SQLSTATE.duplicate_object,
  SQLSTATE.duplicate_column,
  SQLSTATE.duplicate_function,
]);

/** True if PostgreSQL rejected a name that a table, a column or another object has. */
export const isNameTaken = (sqlstate: unknown): boolean => TAKEN.has(sqlstate);

export interface TakenName {
  name: string;
  /** The kind of the object for display: `table`, `view`, `enum type` … */
  kind: string;
}

const list = (names: readonly string[]): Sql => join(names.map(literal), sql`, `);

/** @param prefix text to show before each name */
const relations = (names: readonly string[], schema: string, prefix = ''): Sql => sql`
SELECT ${literal(prefix)} || c.relname::text AS name, CASE c.relkind
         WHEN 'r' THEN 'table' WHEN 'p' THEN 'table' WHEN 'f' THEN 'foreign table' WHEN 'v' THEN 'view'
         WHEN 'm' THEN 'materialized view' WHEN 'S' THEN 'sequence' WHEN 'c' THEN 'composite type' ELSE 'index' END AS kind
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = ${literal(schema)} AND c.relname IN (${list(names)})`;

/**
 * Selects types that are not tables. Every table is also a type. PostgreSQL renames its automatic array types when they
 * collide.
 */
const types = (names: readonly string[], schema: string, prefix = ''): Sql => sql`
SELECT ${literal(prefix)} || t.typname::text, CASE t.typtype
         WHEN 'e' THEN 'enum type' WHEN 'd' THEN 'domain' WHEN 'r' THEN 'range type' WHEN 'm' THEN 'multirange type'
         ELSE 'type' END
  FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
 WHERE n.nspname = ${literal(schema)} AND t.typname IN (${list(names)}) AND t.typrelid = 0::oid
   AND NOT EXISTS (SELECT FROM pg_catalog.pg_type e WHERE e.typarray = t.oid)`;

const CONSTRAINT = 'constraint of the table';

const constraints = (names: readonly string[], table: Sql): Sql => sql`
SELECT conname::text AS name, ${literal(CONSTRAINT)} AS kind FROM pg_catalog.pg_constraint
 WHERE conrelid = pg_catalog.to_regclass(${literal(table)})::oid AND conname IN (${list(names)})`;

const OF_CHILD = 'constraint of';

/**
 * Selects CHECK constraints of inheriting tables. PostgreSQL merges a constraint with one of them only if both have the
 * same definition.
 */
const checksOfChildren = (names: readonly string[], table: Sql): Sql => sql`
SELECT k.conname::text AS name, pg_catalog.format(${literal(`${OF_CHILD} %s, which inherits from it, with the definition %s`)}, k.conrelid::regclass,
    pg_catalog.pg_get_constraintdef(k.oid)) AS kind
  FROM pg_catalog.pg_constraint k
 WHERE k.conname IN (${list(names)}) AND k.conrelid IN (
   WITH RECURSIVE children (oid) AS (
     SELECT i.inhrelid FROM pg_catalog.pg_inherits i WHERE i.inhparent = pg_catalog.to_regclass(${literal(table)})::oid
     UNION SELECT i.inhrelid FROM pg_catalog.pg_inherits i JOIN children c ON i.inhparent = c.oid)
   SELECT c.oid FROM children c)`;

/** Selects a column with the name. Someone created it by hand. */
const column = (name: string, table: Sql): Sql => sql`
SELECT attname::text AS name, 'column of the table' AS kind FROM pg_catalog.pg_attribute
 WHERE attrelid = pg_catalog.to_regclass(${literal(table)})::oid AND attname = ${literal(name)} AND NOT attisdropped`;

/**
 * Returns rows of `TakenName`: the objects that have the table names of these collections. Outside the default schema
 * they are shown with their schema.
 */
export function queryTakenByOthers(state: State, collections: readonly string[], schema: string): Sql {
  const parts = [...tablesBySchema(state, collections, schema)].flatMap(([place, tables]) => {
    const names = [...tables.keys()];
    const prefix = place === schema ? '' : `${place}.`;
    return [relations(names, place, prefix), types(names, place, prefix)];
  });
  return sql`${join(parts, sql` UNION ALL `)} ORDER BY 1`;
}

/**
 * Returns rows of `TakenName`: the objects that have the names that a change gives to a column, its indexes and
 * constraints. Null if it gives none.
 */
export function queryTakenParts({ problem, before, after, schema }: RejectedBatch): Sql | null {
  const { collection = '', field = '', details } = problem;
  const node = after.collections.get(collection);
  const state = details?.['sqlstate'];
  if (!isNameTaken(state) || node === undefined) return null;
  const table = tableIn(after, collection, schema);
  if (state === SQLSTATE.duplicate_column) return column(field, table);
  const old = before.collections.get(collection);
  const names = newNames(old, node, field);
  const checks = newConstraints(old, node);
  const questions = [
    ...(checks.length === 0 ? [] : [checksOfChildren(checks, table)]),
    ...(names.size === 0
      ? []
      : [constraints([...names], table), relations([...names], locateTable(after, collection, schema).schema)]),
  ];
  return questions.length === 0 ? null : sql`${join(questions, sql` UNION ALL `)} ORDER BY 1`;
}

/** Returns the names of constraints that are new or get a different definition. */
function newConstraints(before: CollectionNode | undefined, after: CollectionNode): string[] {
  const had = extrasOf(before).constraints ?? [];
  const added = (extrasOf(after).constraints ?? []).filter((each) => !had.some((other) => jsonEqual(each, other)));
  return added.map(({ name }) => name);
}

function newNames(before: CollectionNode | undefined, after: CollectionNode, changed: string): Set<string> {
  const names = new Set(objectNames(after));
  const had = before === undefined ? [] : objectNames(before);
  for (const name of had) names.delete(name);
  // PostgreSQL chooses another name for the sequence of an identity column.
  for (const { field } of after.fields.values()) names.delete(identitySequenceName(tableNameOf(after), field));
  // A foreign key can have the same name as another part of its own table.
  const key = after.relations.get(changed)?.schema?.constraint_name;
  if (key !== undefined) names.add(key);
  return names;
}

/** Adds the objects that have the names. Each is listed once, because a constraint and its index share a name. */
export function addTakenNames(problem: Problem, rows: readonly TakenName[]): Problem {
  const taken = new Map<string, TakenName>();
  for (const row of rows) {
    if (!taken.has(row.name) || row.kind === CONSTRAINT) taken.set(row.name, row);
  }
  if (taken.size === 0) return problem;
  const descriptions = [...taken.values()].map(
    ({ name, kind }) => `${JSON.stringify(name)} is already the name of ${addArticle(kind)}`,
  );
  const next = rows.some(({ kind }) => kind !== CONSTRAINT && kind.startsWith(OF_CHILD))
    ? '. Use the same definition, or rename or drop the constraint of the inheriting table first.'
    : '';
  const message = `${problem.message} (${descriptions.join('; ')})${next}`;
  return { ...problem, message, details: { ...problem.details, taken: [...taken.values()] } };
}

/* Explains why PostgreSQL does not change an inherited column. */

const INVALID_TABLE_DEFINITION = '42P16';

/** Returns the parents from which a table inherits the column. Null if inheritance did not cause the error. */
export function parentsOfColumn({ problem, before, schema }: RejectedBatch): Sql | null {
  const { collection, field, details } = problem;
  if (details?.['sqlstate'] !== INVALID_TABLE_DEFINITION || collection === undefined || field === undefined)
    return null;
  return sql`SELECT i.inhparent::regclass::text AS name FROM pg_catalog.pg_inherits i
      JOIN pg_catalog.pg_attribute p ON p.attrelid = i.inhparent AND p.attname = ${literal(field)} AND NOT p.attisdropped
     WHERE i.inhrelid = pg_catalog.to_regclass(${literal(tableIn(before, collection, schema))})::oid ORDER BY i.inhseqno`;
}

export function addParents(problem: Problem, rows: readonly Pick<TakenName, 'name'>[]): Problem {
  if (rows.length === 0) return problem;
  const { collection, field } = problem;
  const parents = rows.map(({ name }) => name);
  const message =
    `Column ${JSON.stringify(field)} of ${JSON.stringify(collection)} cannot be changed: the table inherits it from ` +
    `${parents.join(' and ')}. Change the column there, which changes it here too.`;
  return { ...problem, message, details: { ...problem.details, parents } };
}
