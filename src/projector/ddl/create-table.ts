/** CREATE TABLE for execution and for display, with or without foreign keys. */
import {
  type ColumnField,
  hasColumn,
  extrasOf,
  type CollectionNode,
  type State,
  primaryKeyOf,
  tableNameOf,
} from '../../schema/model/state.js';
import type { Deferrable, ForeignKey, Relation } from '../../schema/model/model.js';
import { REFERABLE_SYSTEM_COLLECTIONS } from '../../schema/model/system-collections.js';
import { columnDefinition, needsUnique } from './column.js';
import {
  columnList,
  type Sql,
  constraintDefinition,
  ident,
  join,
  partitionKey,
  sql,
  tableOfNode,
  targetTable,
} from './sql.js';
import { inheritedNotNullName, primaryKeyNameOf, uniqueNameOf } from '../../schema/model/constraint-names.js';

export type ForeignKeyRelation = Relation & { schema: ForeignKey; one_collection: string };

/** Checks whether PostgreSQL enforces the relation. Other relations exist only as metadata. */
export function hasForeignKey(relation: Relation | undefined): relation is ForeignKeyRelation {
  return relation !== undefined && relation.schema !== null && relation.one_collection !== null;
}

/**
 * Returns one CREATE TABLE statement with keys, uniques, foreign keys and defaults: `schema.sql` of responses. Null for
 * a folder. Indexes and comments need separate statements and are not included.
 */
export function createTableSql(node: CollectionNode, state: State, schema: string): string | null {
  if (node.collection.schema === null) return null;
  const lines = tableLines(node, state);
  for (const relation of node.relations.values()) {
    if (hasForeignKey(relation)) lines.push(foreignKeyConstraint(relation, state, schema));
  }
  for (const { name, definition } of extrasOf(node).constraints ?? []) {
    lines.push(sql`CONSTRAINT ${ident(name)} ${constraintDefinition(definition)}`);
  }
  return createTable(node, lines, schema);
}

/**
 * Returns CREATE TABLE without foreign keys. They follow in their own statements, because tables may reference each
 * other.
 */
export function createBareTable(node: CollectionNode, state: State, schema: string): Sql {
  return createTable(node, tableLines(node, state), schema);
}

export function primaryKeyColumns(node: CollectionNode | undefined): string[] {
  return node === undefined ? [] : primaryKeyOf(node).map(({ field }) => field);
}

/**
 * Returns the primary key columns that a foreign key references. The keys of system collections are known without the
 * state.
 */
export function referencedColumns({ one_collection }: ForeignKeyRelation, state: State): string[] {
  const system = REFERABLE_SYSTEM_COLLECTIONS.get(one_collection);
  return system === undefined ? primaryKeyColumns(state.collections.get(one_collection)) : [system.field];
}

export function foreignKeyConstraint(relation: ForeignKeyRelation, state: State, schema: string): Sql {
  const definition = foreignKeyDefinition(relation, state, schema);
  return sql`CONSTRAINT ${ident(relation.schema.constraint_name)} ${definition}`;
}

/** Returns the definition of a foreign key without the name of the constraint. */
export function foreignKeyDefinition(relation: ForeignKeyRelation, state: State, schema: string): Sql {
  const { on_update, on_delete, deferrable } = relation.schema;
  const key = referencedColumns(relation, state);
  // Without columns, the reference means the primary key.
  const columns = key.length === 0 ? sql`` : sql` ${columnList(key)}`;
  const target = sql`${targetTable(state, relation.one_collection, schema)}${columns}`;
  const rules = sql`${actionClause(sql` ON UPDATE `, on_update)}${actionClause(sql` ON DELETE `, on_delete)}`;
  const waits = deferrable === undefined ? sql`` : WAITS[deferrable];
  return sql`FOREIGN KEY (${ident(relation.many_field)}) REFERENCES ${target}${rules}${waits}`;
}

const WAITS: Record<Deferrable, Sql> = {
  'INITIALLY IMMEDIATE': sql` DEFERRABLE`,
  'INITIALLY DEFERRED': sql` DEFERRABLE INITIALLY DEFERRED`,
};

function createTable({ collection }: CollectionNode, lines: readonly Sql[], schema: string): Sql {
  const key = extrasOf({ collection }).partition_by;
  const partitioning = key === undefined ? sql`` : sql` PARTITION BY ${partitionKey(key)}`;
  const table = tableOfNode({ collection }, schema);
  if (lines.length === 0) return sql`CREATE TABLE ${table} ()${partitioning}`;
  return sql`CREATE TABLE ${table} (\n  ${join(lines, sql`,\n  `)}\n)${partitioning}`;
}

function tableLines(node: CollectionNode, state: State): Sql[] {
  const lines: Sql[] = [];
  let isKeyed = false;
  const uniques: ColumnField[] = [];
  for (const field of node.fields.values()) {
    if (!hasColumn(field)) continue;
    lines.push(columnDefinition(field, inheritedNotNullName(state, node, field.field)));
    isKeyed ||= field.schema.is_primary_key;
    if (needsUnique(field)) uniques.push(field);
  }
  if (isKeyed) lines.push(primaryKeyConstraint(node));
  for (const field of uniques) {
    lines.push(sql`CONSTRAINT ${ident(uniqueNameOf(tableNameOf(node), field))} UNIQUE (${ident(field.field)})`);
  }
  return lines;
}

export function primaryKeyConstraint(node: CollectionNode): Sql {
  return sql`CONSTRAINT ${ident(primaryKeyNameOf(node))} ${primaryKeyDefinition(node)}`;
}

/**
 * Returns the primary key of the fields that are marked so far, in key order. Columns change one by one, so some may
 * not be marked yet.
 */
export function primaryKeyDefinition(node: CollectionNode): Sql {
  const key = extrasOf(node).primary_key;
  const marked = primaryKeyColumns(node);
  const columns = (key?.columns ?? []).filter((column) => marked.includes(column));
  const isWhole = columns.length === marked.length && columns.length === key?.columns.length;
  if (isWhole && key?.definition !== undefined) return constraintDefinition(key.definition);
  return sql`PRIMARY KEY ${columnList([...new Set([...columns, ...marked])])}`;
}

const ACTIONS: Record<ForeignKey['on_delete'], Sql> = {
  'NO ACTION': sql``,
  RESTRICT: sql`RESTRICT`,
  CASCADE: sql`CASCADE`,
  'SET NULL': sql`SET NULL`,
  'SET DEFAULT': sql`SET DEFAULT`,
};

/** Returns the clause for an action. It is empty for NO ACTION, which is PostgreSQL's default. */
function actionClause(words: Sql, action: ForeignKey['on_delete']): Sql {
  const name = ACTIONS[action];
  return name === '' ? name : sql`${words}${name}`;
}
