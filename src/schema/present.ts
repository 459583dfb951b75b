/** Normal form → the documents that are shown, with their derived members, in the interface's order of members. */
import type { ColumnExtras, TableExtras } from './extras.js';
import type { Collection, CollectionMeta, ColumnSchema, Field, FieldMeta } from './model.js';
import { type CollectionNode, type State, primaryKeyOf } from './state.js';
import { REFERABLE_SYSTEM_COLLECTIONS } from './system-collections.js';

export interface ShownCollection {
  collection: string;
  meta: { collection: string } & CollectionMeta;
  schema: { name: string; comment: string | null; extras?: TableExtras } | null;
}

export type ShownColumn = { name: string; table: string } & Omit<
  ColumnSchema,
  'generation_expression' | 'has_auto_increment' | 'comment' | 'extras'
> & {
    is_generated: boolean;
    generation_expression: string | null;
    has_auto_increment: boolean;
    comment: string | null;
    foreign_key_table: string | null;
    foreign_key_column: string | null;
    extras?: ColumnExtras;
  };

export interface ShownField {
  collection: string;
  field: string;
  type: string;
  meta: { collection: string; field: string } & FieldMeta;
  schema: ShownColumn | null;
}

export function presentCollection({ collection, meta, schema }: Collection): ShownCollection {
  return {
    collection,
    meta: { collection, ...meta },
    schema: schema === null ? null : { name: collection, ...schema },
  };
}

/** `target`: where the field's foreign key points, if it has one. */
export function presentField({ collection, field, type, meta, schema }: Field, target: KeyTarget | null): ShownField {
  return {
    collection,
    field,
    type,
    meta: { collection, field, ...meta },
    schema: schema === null ? null : presentColumn(collection, field, schema, target),
  };
}

function presentColumn(table: string, name: string, column: ColumnSchema, target: KeyTarget | null): ShownColumn {
  return {
    name,
    table,
    data_type: column.data_type,
    default_value: column.default_value,
    max_length: column.max_length,
    numeric_precision: column.numeric_precision,
    numeric_scale: column.numeric_scale,
    is_nullable: column.is_nullable,
    is_unique: column.is_unique,
    is_indexed: column.is_indexed,
    is_primary_key: column.is_primary_key,
    is_generated: column.generation_expression !== null,
    generation_expression: column.generation_expression,
    has_auto_increment: column.has_auto_increment,
    comment: column.comment,
    foreign_key_table: target?.table ?? null,
    foreign_key_column: target?.column ?? null,
    ...(column.extras === undefined ? {} : { extras: column.extras }),
  };
}

export interface KeyTarget {
  table: string;
  column: string | null;
}

/** Where the foreign key of a node's field points; null without one. */
export function keyTarget(state: State, node: CollectionNode, field: string): KeyTarget | null {
  const relation = node.relations.get(field);
  if (relation === undefined || relation.schema === null || relation.one_collection === null) return null;
  const one = state.collections.get(relation.one_collection);
  const column =
    one === undefined ? REFERABLE_SYSTEM_COLLECTIONS.get(relation.one_collection)?.field : primaryKeyOf(one)[0]?.field;
  return { table: relation.one_collection, column: column ?? null };
}
