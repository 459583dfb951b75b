/** Fields and events for planner tests, parsed like requests. */
import type { NewEvent } from '../../src/schema/model/events.js';
import type { TableExtras } from '../../src/schema/model/extras.js';
import type { Collection, Field } from '../../src/schema/model/model.js';
import {
  defaultPrimaryKey,
  readNewCollection,
  readNewField,
  readNewRelation,
} from '../../src/schema/normal-form/index.js';
import { patchBetween } from '../../src/schema/fold/rename-events.js';
import type { Result } from '../../src/kernel/problem.js';

const own = { imported: false } as const;

function must<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  throw new Error(JSON.stringify(result.problems));
}

/** A field of the table `t`, unless the name contains another: `articles.title`. */
export function column(name: string, type: string, schema: object | null = {}): Field {
  const [collection, field] = name.includes('.') ? (name.split('.') as [string, string]) : ['t', name];
  return must(readNewField({ collection, field, type, schema }, [], own));
}

export function tableOf(collection: string, schema: object | null = {}): Collection {
  return must(readNewCollection({ collection, schema }, [], own));
}

interface Created {
  comment?: string | null;
  extras?: TableExtras;
  concurrent?: boolean;
}

/** collection.created with an `id` unless the fields contain a primary key. */
export function created(
  collection: string,
  fields: Field[] = [],
  { comment = null, extras, concurrent }: Created = {},
): NewEvent {
  const keyed = fields.some((field) => field.schema?.is_primary_key === true);
  const all = keyed ? fields : [defaultPrimaryKey(collection), ...fields];
  return {
    type: 'collection.created',
    version: 1,
    collection,
    field: null,
    data: {
      collection: tableOf(collection, { comment, ...(extras === undefined ? {} : { extras }) }),
      fields: all.map((field) => ({ ...field, collection })),
      ...(concurrent === true ? { concurrent_indexes: true } : {}),
    },
  };
}

export function deleted(collection: string): NewEvent {
  return { type: 'collection.deleted', version: 1, collection, field: null, data: {} };
}

/** collection.updated: replaces the extras of the table. */
export function extended(collection: string, extras: TableExtras): NewEvent {
  const data = { patch: [{ op: 'add' as const, path: '/schema/extras', value: JSON.parse(JSON.stringify(extras)) }] };
  return { type: 'collection.updated', version: 1, collection, field: null, data };
}

/** collection.renamed, or field.renamed if a field is named. */
export function renamed(what: string, to: string): NewEvent {
  const [collection = '', field] = what.split('.');
  if (field === undefined) return { type: 'collection.renamed', version: 1, collection, field: null, data: { to } };
  return { type: 'field.renamed', version: 1, collection, field, data: { to } };
}

export function added(field: Field, concurrent = false): NewEvent {
  const data = { field, ...(concurrent ? { concurrent_indexes: true } : {}) };
  return { type: 'field.created', version: 1, collection: field.collection, field: field.field, data };
}

/** field.updated from one form of a field to another. */
export function changed(from: Field, to: Field, concurrent = false): NewEvent {
  const data = { patch: patchBetween(from, to), ...(concurrent ? { concurrent_indexes: true } : {}) };
  return { type: 'field.updated', version: 1, collection: from.collection, field: from.field, data };
}

export function dropped({ collection, field }: Field): NewEvent {
  return { type: 'field.deleted', version: 1, collection, field, data: {} };
}

/** relation.created: `articles.author` → `authors`. */
export function relationCreated(many: string, one: string, schema: object | null = {}): NewEvent {
  const [many_collection, many_field] = many.split('.') as [string, string];
  const relation = must(readNewRelation({ many_collection, many_field, one_collection: one, schema }, [], own));
  return { type: 'relation.created', version: 1, collection: many_collection, field: many_field, data: { relation } };
}

export function unrelated(many: string): NewEvent {
  const [collection, field] = many.split('.') as [string, string];
  return { type: 'relation.deleted', version: 1, collection, field, data: {} };
}
