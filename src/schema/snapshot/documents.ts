/** Converts normal form to documents with derived members, in the member order of the API. */
import { z } from 'zod';
import * as model from '../model/model.js';
import {
  type Collection,
  type ColumnSchema,
  type Field,
  type ForeignKey,
  type Relation,
  membersOf,
} from '../model/model.js';
import { createAttachment } from '../../kernel/attachment.js';
import type { Resumable } from '../../kernel/resumable.js';
import { fieldsInOrder, relationsInOrder } from '../model/order.js';
import { type CollectionNode, type State, primaryKeyOf } from '../model/state.js';
import { REFERABLE_SYSTEM_COLLECTIONS } from '../model/system-collections.js';
import { objectDocument } from '../model/object-document.js';
import { isObject } from '../../kernel/json.js';

/* Define the member order of documents. Documents come from requests, or from the log, where jsonb changes the
   order. Equal schemas must produce equal bytes. */

interface Order {
  /** The members that come first, in this order. All other members follow by name. */
  readonly first: readonly string[];
  readonly inner?: Readonly<Record<string, Order>>;
}

const PLAIN: Order = { first: [] };

const COLLECTION: Order = {
  first: membersOf(model.collectionDocument),
  inner: {
    meta: { first: membersOf(model.collectionMetaDocument) },
    schema: { first: membersOf(model.tableDocument) },
  },
};

const FIELD: Order = {
  first: membersOf(model.fieldDocument),
  inner: {
    meta: { first: membersOf(model.fieldMetaDocument) },
    schema: { first: membersOf(model.columnDocument) },
  },
};

const OBJECT: Order = { first: membersOf(objectDocument) };

const RELATION: Order = {
  first: membersOf(model.relation),
  inner: { schema: { first: membersOf(model.foreignKey) } },
};

/** Returns a copy. Unknown members come last, by name. */
export const orderCollectionMembers = <T>(document: T): T => arrangeMembers(document, COLLECTION);
/** Returns a copy. Unknown members come last, by name. */
export const orderFieldMembers = <T>(document: T): T => arrangeMembers(document, FIELD);
/** Returns a copy. Unknown members come last, by name. */
export const orderRelationMembers = <T>(document: T): T => arrangeMembers(document, RELATION);

export const orderObjectMembers = <T>(document: T): T => arrangeMembers(document, OBJECT);

function arrangeMembers<T>(value: T, order: Order): T {
  if (Array.isArray(value)) return value.map((element: unknown) => arrangeMembers(element, PLAIN)) as T;
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
  const arranged = typeof value === 'object' && value !== null ? arrangeMembers(value, order) : value;
  if (member !== '__proto__') into[member] = arranged;
  else Object.defineProperty(into, member, { value: arranged, enumerable: true, writable: true, configurable: true });
}

export type CollectionDocument = z.infer<typeof model.collectionDocument>;
export type FieldDocument = z.infer<typeof model.fieldDocument>;
type ColumnDocument = z.infer<typeof model.columnDocument>;
/** A relation in responses of /relations: the flat members and the nested ones for Directus clients. */
export type RelationDocument = z.infer<typeof model.relationDocument>;
type ForeignKeyDocument = z.infer<typeof model.foreignKeyDocument>;

/** Returns the document of a collection. `schema` is null for a folder. Fields and relations are separate documents. */
export function collectionDocument({ collection, meta, schema }: Collection): CollectionDocument {
  return {
    collection,
    meta: { collection, ...meta },
    schema: schema === null ? null : { name: collection, ...schema },
  };
}

/** `target` is the column that the field's foreign key references, if any. */
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

/**
 * Creates an object with all members in the order of responses, but without values. A copy that gets its values by
 * spreading keeps the order, and is ten times as fast as assigning members one by one.
 */
const createBlank = <S extends z.ZodObject>({ shape }: S): z.infer<S> =>
  Object.fromEntries(
    Object.entries(shape).flatMap(([name, member]) => (member instanceof z.ZodOptional ? [] : [[name, null]])),
  ) as z.infer<S>;

const BLANK_COLUMN = createBlank(model.columnDocument);

function columnDocument(table: string, name: string, column: ColumnSchema, target: KeyTarget | null): ColumnDocument {
  return {
    ...BLANK_COLUMN,
    ...column,
    name,
    table,
    is_generated: column.generation_expression !== null,
    foreign_key_table: target?.table ?? null,
    foreign_key_column: target?.column ?? null,
  };
}

export interface KeyTarget {
  table: string;
  column: string | null;
}

/** Returns the column that a field's foreign key references. Null if there is no foreign key. */
export function keyTarget(state: State, node: CollectionNode, field: string): KeyTarget | null {
  const relation = node.relations.get(field);
  if (relation === undefined || relation.schema === null || relation.one_collection === null) return null;
  const one = state.collections.get(relation.one_collection);
  const column =
    one === undefined ? REFERABLE_SYSTEM_COLLECTIONS.get(relation.one_collection)?.field : primaryKeyOf(one)[0]?.field;
  return { table: relation.one_collection, column: column ?? null };
}

/** The member order is fixed. `target` is the column that the relation's foreign key references, if any. */
export function relationDocument(relation: Relation, target: KeyTarget | null): RelationDocument {
  const { schema, ...rest } = relation;
  const ends = { ...BLANK_RELATION, ...rest };
  return {
    ...ends,
    schema: schema === null ? null : foreignKeyDocument(relation, schema, target),
    collection: ends.many_collection,
    field: ends.many_field,
    related_collection: ends.one_collection,
    meta: ends,
  };
}

const BLANK_RELATION = createBlank(model.relationMembers);
const BLANK_FOREIGN_KEY = createBlank(model.foreignKeyDocument);

function foreignKeyDocument(
  { many_collection, many_field }: Relation,
  key: ForeignKey,
  target: KeyTarget | null,
): ForeignKeyDocument {
  return {
    ...BLANK_FOREIGN_KEY,
    ...key,
    table: many_collection,
    column: many_field,
    foreign_key_table: target?.table ?? '',
    foreign_key_column: target?.column ?? null,
  };
}

/** The documents of a node, created on demand and in document order. */
interface NodeDocuments {
  /**
   * The columns that the node's foreign keys referenced when the documents were created. They are the only input that
   * is not part of the node.
   */
  targets: string;
  collection?: CollectionDocument;
  fields?: readonly FieldDocument[];
  relations?: readonly Relation[];
}

const documentsOfNode = createAttachment<CollectionNode, NodeDocuments>();

function documentsOf(state: State, node: CollectionNode): NodeDocuments {
  const targets = [...node.relations.keys()].map((field) => keyTarget(state, node, field)?.column).join('\0');
  const cached = documentsOfNode.get(node);
  if (cached !== undefined && cached.targets === targets) return cached;
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
  // Another caller may have created the documents between two steps.
  return (documents.fields ??= fields);
}

export const fieldDocumentOf = (state: State, node: CollectionNode, field: Field): FieldDocument =>
  orderFieldMembers(fieldDocument(field, keyTarget(state, node, field.field)));

/** Returns the relations whose many side is the collection, in order. */
export function relationDocumentsOf(state: State, node: CollectionNode): readonly Relation[] {
  return (documentsOf(state, node).relations ??= relationsInOrder(node).map(orderRelationMembers));
}

export function collectionDocumentOf(state: State, node: CollectionNode): CollectionDocument {
  return (documentsOf(state, node).collection ??= orderCollectionMembers(collectionDocument(node.collection)));
}
