/** Converts responses to documents in normal form, without derived members. */
import type { Collection, Field, NewRelation } from '../../schema/model/model.js';
import { RELATION_MEMBERS } from '../../schema/model/model.js';
import type { CollectionDocument, FieldDocument, ListedCollection, RelationDocument } from '../service/types.js';

/** @param document from a list or a snapshot; only snapshots contain extras */
export function collectionOf({ collection, meta, schema }: CollectionDocument | ListedCollection): Collection {
  const { collection: _, system: __, ...own } = meta;
  if (schema === null) return { collection, meta: own, schema };
  const { comment = null, extras } = schema as Partial<NonNullable<Collection['schema']>>;
  return { collection, meta: own, schema: { comment, ...(extras && { extras }) } };
}

const DERIVED = new Set(['name', 'table', 'schema', 'is_generated', 'foreign_key_table', 'foreign_key_column']);

/** Removes column members derived from the field and its relation: name, table, foreign key. */
export function fieldOf({ collection, field, type, meta, schema }: FieldDocument): Field {
  const { collection: _, field: __, system: ___, ...own } = meta as typeof meta & { system?: boolean };
  if (schema === null) return { collection, field, type, meta: own, schema };
  const column = Object.fromEntries(Object.entries(schema).filter(([member]) => !DERIVED.has(member)));
  return { collection, field, type, meta: own, schema: column as unknown as NonNullable<Field['schema']> };
}

type Related = Pick<RelationDocument, 'meta' | 'schema'>;

/** @param document from /relations, or flat from a snapshot */
export function relationOf(document: Related | NewRelation): NewRelation {
  const ends = 'meta' in document ? document.meta : document;
  const { schema } = document;
  const own = Object.fromEntries(RELATION_MEMBERS.map((member) => [member, ends[member]]));
  if (schema === null) return { ...own, schema } as NewRelation;
  const { constraint_name, on_update, on_delete, deferrable } = schema;
  return {
    ...own,
    schema: { constraint_name, on_update, on_delete, ...(deferrable && { deferrable }) },
  } as NewRelation;
}
