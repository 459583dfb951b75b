/** CREATE TABLE, for the database and for people: the same words, with foreign keys or without. */
import type { ForeignKey, Relation } from '../../schema/model.js';
import { type CollectionNode, type State, primaryKeyOf } from '../../schema/state.js';
import { REFERABLE_SYSTEM_COLLECTIONS } from '../../schema/system-collections.js';
import { type ColumnField, columnDefinition, hasColumn, needsUnique } from './column.js';
import { columnList, primaryKeyIdent, uniqueIdent } from './names.js';
import { type Sql, ident, join, qualified, sql } from './sql.js';

/** A relation that has a foreign key. */
export type ForeignKeyRelation = Relation & { schema: ForeignKey; one_collection: string };

export function hasForeignKey(relation: Relation | undefined): relation is ForeignKeyRelation {
  return relation !== undefined && relation.schema !== null && relation.one_collection !== null;
}

/**
 * One CREATE TABLE statement that makes this table with its keys, uniques, foreign keys and defaults: `schema.sql` of
 * answers. Null for a folder. Indexes and comments are statements of their own and not part of it.
 */
export function createTableSql(node: CollectionNode, state: State, schema: string): string | null {
  if (node.collection.schema === null) return null;
  const lines = tableLines(node);
  for (const relation of node.relations.values()) {
    if (hasForeignKey(relation)) lines.push(foreignKeyConstraint(relation, state, schema));
  }
  return createTable(node.collection.collection, lines, schema);
}

/** The table without foreign keys: they follow in statements of their own, because tables may point at each other. */
export function createBareTable(node: CollectionNode, schema: string): Sql {
  return createTable(node.collection.collection, tableLines(node), schema);
}

/** The columns of a node that make up its primary key. */
export function primaryKeyColumns(node: CollectionNode | undefined): string[] {
  return node === undefined ? [] : primaryKeyOf(node).map(({ field }) => field);
}

/** The primary key that a foreign key points at; that of a system collection is known without being in the state. */
export function referencedColumns({ one_collection }: ForeignKeyRelation, state: State): string[] {
  const system = REFERABLE_SYSTEM_COLLECTIONS.get(one_collection);
  return system === undefined ? primaryKeyColumns(state.collections.get(one_collection)) : [system.field];
}

/** `CONSTRAINT "…" FOREIGN KEY ("author") REFERENCES "public"."authors" ("id") ON DELETE CASCADE` */
export function foreignKeyConstraint(relation: ForeignKeyRelation, state: State, schema: string): Sql {
  const { constraint_name, on_update, on_delete } = relation.schema;
  const key = referencedColumns(relation, state);
  // Without columns the reference means the primary key, whatever that is.
  const columns = key.length === 0 ? sql`` : sql` ${columnList(key)}`;
  const target = sql`${qualified(schema, relation.one_collection)}${columns}`;
  const rules = sql`${onAction(sql` ON UPDATE `, on_update)}${onAction(sql` ON DELETE `, on_delete)}`;
  return sql`CONSTRAINT ${ident(constraint_name)} FOREIGN KEY (${ident(relation.many_field)}) REFERENCES ${target}${rules}`;
}

function createTable(collection: string, lines: readonly Sql[], schema: string): Sql {
  if (lines.length === 0) return sql`CREATE TABLE ${qualified(schema, collection)} ()`;
  return sql`CREATE TABLE ${qualified(schema, collection)} (\n  ${join(lines, sql`,\n  `)}\n)`;
}

function tableLines({ collection: { collection }, fields }: CollectionNode): Sql[] {
  const lines: Sql[] = [];
  const key: string[] = [];
  const uniques: ColumnField[] = [];
  for (const field of fields.values()) {
    if (!hasColumn(field)) continue;
    lines.push(columnDefinition(field));
    if (field.schema.is_primary_key) key.push(field.field);
    if (needsUnique(field)) uniques.push(field);
  }
  if (key.length > 0) lines.push(sql`CONSTRAINT ${primaryKeyIdent(collection)} PRIMARY KEY ${columnList(key)}`);
  for (const { field } of uniques) {
    lines.push(sql`CONSTRAINT ${uniqueIdent(collection, field)} UNIQUE (${ident(field)})`);
  }
  return lines;
}

const ACTIONS: Record<ForeignKey['on_delete'], Sql> = {
  'NO ACTION': sql``,
  RESTRICT: sql`RESTRICT`,
  CASCADE: sql`CASCADE`,
  'SET NULL': sql`SET NULL`,
  'SET DEFAULT': sql`SET DEFAULT`,
};

/** NO ACTION is what PostgreSQL does unasked. */
function onAction(words: Sql, action: ForeignKey['on_delete']): Sql {
  const name = ACTIONS[action];
  return name === '' ? name : sql`${words}${name}`;
}
