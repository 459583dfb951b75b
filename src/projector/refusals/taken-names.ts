/** Finds the object that already uses a name. PostgreSQL reports only that the name is taken. */
import { SQLSTATE } from '../../postgres/errors.js';
import type { Problem } from '../../kernel/problem.js';
import type { CollectionNode } from '../../schema/model/state.js';
import { objectNames } from '../ddl/object-names.js';
import { type Sql, join, literal, qualified, sql } from '../ddl/sql.js';
import { identitySequenceName } from '../../schema/model/constraint-names.js';
import type { Refused } from './offending-rows.js';

const TAKEN: ReadonlySet<unknown> = new Set([
  SQLSTATE.duplicate_table,
  SQLSTATE.duplicate_object,
  SQLSTATE.duplicate_column,
]);

/** Checks whether PostgreSQL rejected a name that a table, a column or another object has. */
export const isNameTaken = (sqlstate: unknown): boolean => TAKEN.has(sqlstate);

export interface Taken {
  name: string;
  /** For display: `table`, `view`, `enum type` … */
  kind: string;
}

const list = (names: readonly string[]): Sql => join(names.map(literal), sql`, `);

const relations = (names: readonly string[], schema: string): Sql => sql`
SELECT c.relname::text AS name, CASE c.relkind
         WHEN 'r' THEN 'table' WHEN 'p' THEN 'table' WHEN 'f' THEN 'foreign table' WHEN 'v' THEN 'view'
         WHEN 'm' THEN 'materialized view' WHEN 'S' THEN 'sequence' WHEN 'c' THEN 'composite type' ELSE 'index' END AS kind
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = ${literal(schema)} AND c.relname IN (${list(names)})`;

/** Every table is also a type. PostgreSQL renames its automatic array types when they collide. */
const types = (names: readonly string[], schema: string): Sql => sql`
SELECT t.typname::text, CASE t.typtype
         WHEN 'e' THEN 'enum type' WHEN 'd' THEN 'domain' WHEN 'r' THEN 'range type' WHEN 'm' THEN 'multirange type'
         ELSE 'type' END
  FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
 WHERE n.nspname = ${literal(schema)} AND t.typname IN (${list(names)}) AND t.typrelid = 0::oid
   AND NOT EXISTS (SELECT FROM pg_catalog.pg_type e WHERE e.typarray = t.oid)`;

const CONSTRAINT = 'constraint of the table';

const constraints = (names: readonly string[], table: Sql): Sql => sql`
SELECT conname::text AS name, ${literal(CONSTRAINT)} AS kind FROM pg_catalog.pg_constraint
 WHERE conrelid = pg_catalog.to_regclass(${literal(table)})::oid AND conname IN (${list(names)})`;

/** A column created by hand. */
const column = (name: string, table: Sql): Sql => sql`
SELECT attname::text AS name, 'column of the table' AS kind FROM pg_catalog.pg_attribute
 WHERE attrelid = pg_catalog.to_regclass(${literal(table)})::oid AND attname = ${literal(name)} AND NOT attisdropped`;

/** Returns rows of `Taken`: the objects with the names of these collections. */
export const takenByOthers = (names: readonly string[], schema: string): Sql =>
  sql`${relations(names, schema)} UNION ALL ${types(names, schema)} ORDER BY 1`;

/**
 * Returns rows of `Taken`: the objects with the names that a change gives to a column, its indexes and constraints.
 * Null if it gives none.
 */
export function takenParts({ problem, before, after, schema }: Refused): Sql | null {
  const { collection = '', field = '', details } = problem;
  const node = after.collections.get(collection);
  const state = details?.['sqlstate'];
  if (!isNameTaken(state) || node === undefined) return null;
  const table = qualified(schema, collection);
  if (state === SQLSTATE.duplicate_column) return column(field, table);
  const names = newNames(before.collections.get(collection), node, field);
  if (names.size === 0) return null;
  return sql`${constraints([...names], table)} UNION ALL ${relations([...names], schema)} ORDER BY 1`;
}

function newNames(before: CollectionNode | undefined, after: CollectionNode, changed: string): Set<string> {
  const names = new Set(objectNames(after));
  const had = before === undefined ? [] : objectNames(before);
  for (const name of had) names.delete(name);
  // PostgreSQL chooses another name for the sequence of an identity column.
  for (const { collection, field } of after.fields.values()) names.delete(identitySequenceName(collection, field));
  // A foreign key can have the same name as another part of its own table.
  const key = after.relations.get(changed)?.schema?.constraint_name;
  if (key !== undefined) names.add(key);
  return names;
}

/** Adds the objects that have the names. Each is listed once, because a constraint and its index share a name. */
export function withTaken(problem: Problem, rows: readonly Taken[]): Problem {
  const taken = new Map<string, Taken>();
  for (const row of rows) {
    if (!taken.has(row.name) || row.kind === CONSTRAINT) taken.set(row.name, row);
  }
  if (taken.size === 0) return problem;
  const said = [...taken.values()].map(({ name, kind }) => `${JSON.stringify(name)} is the name of ${articled(kind)}`);
  const message = `${problem.message} (${said.join('; ')})`;
  return { ...problem, message, details: { ...problem.details, taken: [...taken.values()] } };
}

/** "a table", "an index". */
export const articled = (kind: string): string => `${/^[aeiou]/.test(kind) ? 'an' : 'a'} ${kind}`;
