/** Converts normal form to documents with derived members, in the member order of the API. */
import type { ColumnExtras, TableExtras } from '../model/extras.js';
import type {
  Collection,
  CollectionMeta,
  ColumnSchema,
  Field,
  FieldMeta,
  ForeignKey,
  Relation,
} from '../model/model.js';
import { createAttachment } from '../../kernel/attachment.js';
import type { Resumable } from '../../kernel/resumable.js';
import { fieldsInOrder, relationsInOrder } from '../model/order.js';
import { type CollectionNode, type State, primaryKeyOf } from '../model/state.js';
import { REFERABLE_SYSTEM_COLLECTIONS } from '../model/system-collections.js';
import { isObject } from '../../kernel/json.js';

/*
 * Defines the member order of documents. They come from requests, or from the log, where jsonb changes the order. Equal
 * schemas must produce equal bytes.
 */

interface Order {
  /** These members come first in this order. Others follow by name. */
  readonly first: readonly string[];
  readonly inner?: Readonly<Record<string, Order>>;
}

const words = (text: string): string[] => text.split(/\s+/);

const PLAIN: Order = { first: [] };

const COLLECTION: Order = {
  first: ['collection', 'meta', 'schema'],
  inner: {
    meta: {
      first: words(`collection icon note display_template hidden singleton translations archive_field
  archive_app_filter archive_value unarchive_value sort_field accountability color
  item_duplication_fields sort group collapse preview_url versioning`),
    },
    schema: { first: ['name', 'comment'] },
  },
};

const FIELD: Order = {
  first: ['collection', 'field', 'type', 'meta', 'schema'],
  inner: {
    meta: {
      first: words(`collection field special interface options display display_options readonly hidden sort
  width translations note conditions group required validation validation_message`),
    },
    schema: {
      first: words(`name table data_type default_value max_length numeric_precision numeric_scale is_nullable
  is_unique is_indexed is_primary_key is_generated generation_expression has_auto_increment
  comment foreign_key_table foreign_key_column`),
    },
  },
};

const RELATION: Order = {
  first: words(`id many_collection many_field one_collection one_field one_collection_field
  one_allowed_collections junction_field sort_field one_deselect_action schema`),
  inner: { schema: { first: ['constraint_name', 'on_update', 'on_delete'] } },
};

/** Returns a copy. Unknown members come last, by name. */
export const orderCollectionMembers = <T>(document: T): T => arrange(document, COLLECTION);
/** Returns a copy. Unknown members come last, by name. */
export const orderFieldMembers = <T>(document: T): T => arrange(document, FIELD);
/** Returns a copy. Unknown members come last, by name. */
export const orderRelationMembers = <T>(document: T): T => arrange(document, RELATION);

function arrange<T>(value: T, order: Order): T {
  if (Array.isArray(value)) return value.map((element: unknown) => arrange(element, PLAIN)) as T;
  if (!isObject(value)) return value;
  const arranged: Record<string, unknown> = {};
  const { first, inner } = order;
  for (const member of first) if (Object.hasOwn(value, member)) put(arranged, member, value[member], inner);
  const members = Object.keys(value);
  if (first.length > 0 && members.length <= first.length && members.length === Object.keys(arranged).length) {
    return arranged as T;
  }
  for (const member of members.sort()) if (!first.includes(member)) put(arranged, member, value[member], inner);
  return arranged as T;
}

function put(into: Record<string, unknown>, member: string, value: unknown, inner: Order['inner']): void {
  // Member names come from clients, so `constructor` must not find an inherited property.
  const order = (inner !== undefined && Object.hasOwn(inner, member) && inner[member]) || PLAIN;
  const arranged = typeof value === 'object' && value !== null ? arrange(value, order) : value;
  if (member !== '__proto__') into[member] = arranged;
  else Object.defineProperty(into, member, { value: arranged, enumerable: true, writable: true, configurable: true });
}

export interface CollectionDocument {
  collection: string;
  meta: { collection: string } & CollectionMeta;
  schema: { name: string; comment: string | null; extras?: TableExtras } | null;
}

type ColumnDocument = { name: string; table: string } & Omit<
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

export interface FieldDocument {
  collection: string;
  field: string;
  type: string;
  meta: { collection: string; field: string } & FieldMeta;
  schema: ColumnDocument | null;
}

/** A null `schema` is a folder. Fields and relations are separate documents. */
export function collectionDocument({ collection, meta, schema }: Collection): CollectionDocument {
  return {
    collection,
    meta: { collection, ...meta },
    schema: schema === null ? null : { name: collection, ...schema },
  };
}

/** `target`: the column that the field's foreign key references, if any. */
export function fieldDocument(
  { collection, field, type, meta, schema }: Field,
  target: KeyTarget | null,
): FieldDocument {
  return {
    collection,
    field,
    type,
    meta: { collection, field, ...meta },
    schema: schema === null ? null : columnDocument(collection, field, schema, target),
  };
}

function columnDocument(table: string, name: string, column: ColumnSchema, target: KeyTarget | null): ColumnDocument {
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

/** Returns the column that a field's foreign key references. Null without one. */
export function keyTarget(state: State, node: CollectionNode, field: string): KeyTarget | null {
  const relation = node.relations.get(field);
  if (relation === undefined || relation.schema === null || relation.one_collection === null) return null;
  const one = state.collections.get(relation.one_collection);
  const column =
    one === undefined ? REFERABLE_SYSTEM_COLLECTIONS.get(relation.one_collection)?.field : primaryKeyOf(one)[0]?.field;
  return { table: relation.one_collection, column: column ?? null };
}

type RelationEnds = Omit<Relation, 'schema'>;

type ForeignKeyDocument = Pick<ForeignKey, 'constraint_name'> & {
  table: string;
  column: string;
  foreign_key_table: string;
  foreign_key_column: string | null;
} & Omit<ForeignKey, 'constraint_name'>;

/** A relation in responses of /relations: the flat members and the nested ones for Directus clients. */
export type RelationDocument = RelationEnds & {
  schema: ForeignKeyDocument | null;
  collection: string;
  field: string;
  related_collection: string | null;
  meta: RelationEnds;
};

/** The member order is fixed. `target`: the column that its foreign key references, if any. */
export function relationDocument(relation: Relation, target: KeyTarget | null): RelationDocument {
  const ends: RelationEnds = {
    id: relation.id,
    many_collection: relation.many_collection,
    many_field: relation.many_field,
    one_collection: relation.one_collection,
    one_field: relation.one_field,
    one_collection_field: relation.one_collection_field,
    one_allowed_collections: relation.one_allowed_collections,
    junction_field: relation.junction_field,
    sort_field: relation.sort_field,
    one_deselect_action: relation.one_deselect_action,
  };
  return {
    ...ends,
    schema: relation.schema === null ? null : foreignKeyDocument(relation, relation.schema, target),
    collection: ends.many_collection,
    field: ends.many_field,
    related_collection: ends.one_collection,
    meta: ends,
  };
}

function foreignKeyDocument({ many_collection, many_field }: Relation, key: ForeignKey, target: KeyTarget | null) {
  return {
    constraint_name: key.constraint_name,
    table: many_collection,
    column: many_field,
    foreign_key_table: target?.table ?? '',
    foreign_key_column: target?.column ?? null,
    on_update: key.on_update,
    on_delete: key.on_delete,
    ...(key.deferrable === undefined ? {} : { deferrable: key.deferrable }),
  };
}

/** The documents of a node in order, created on demand. */
interface NodeDocuments {
  /** The referenced columns of its foreign keys at creation. Only these are not part of the node. */
  targets: string;
  collection?: CollectionDocument;
  fields?: readonly FieldDocument[];
  relations?: readonly Relation[];
}

const documentsOfNode = createAttachment<CollectionNode, NodeDocuments>();

function documentsOf(state: State, node: CollectionNode): NodeDocuments {
  const targets = [...node.relations.keys()].map((field) => keyTarget(state, node, field)?.column).join('\0');
  const known = documentsOfNode.get(node);
  if (known !== undefined && known.targets === targets) return known;
  const documents: NodeDocuments = { targets };
  documentsOfNode.set(node, documents);
  return documents;
}

/** The field documents of a collection, in order. */
export function* fieldDocumentsOf(state: State, node: CollectionNode): Resumable<readonly FieldDocument[]> {
  const documents = documentsOf(state, node);
  if (documents.fields !== undefined) return documents.fields;
  const fields: FieldDocument[] = [];
  for (const field of fieldsInOrder(node)) {
    fields.push(fieldDocumentOf(state, node, field));
    yield;
  }
  // Other work may have created them meanwhile.
  return (documents.fields ??= fields);
}

export const fieldDocumentOf = (state: State, node: CollectionNode, field: Field): FieldDocument =>
  orderFieldMembers(fieldDocument(field, keyTarget(state, node, field.field)));

/** The relations that a collection holds, in order. */
export function relationDocumentsOf(state: State, node: CollectionNode): readonly Relation[] {
  return (documentsOf(state, node).relations ??= relationsInOrder(node).map(orderRelationMembers));
}

export function collectionDocumentOf(state: State, node: CollectionNode): CollectionDocument {
  return (documentsOf(state, node).collection ??= orderCollectionMembers(collectionDocument(node.collection)));
}
