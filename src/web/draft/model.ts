import type { Backfill } from '../../schema/model/backfill.js';
import type { Collection, Field, NewRelation, Relation } from '../../schema/model/model.js';
import type { ObjectKind, ObjectName } from '../../schema/model/objects.js';
import type { SchemaObject } from '../../schema/model/object-document.js';
import type { CountedChange } from '../shared/changes/total.js';
import type { CollectionDocument, FieldDocument, ListedCollection, RelationDocument } from '../service/types.js';

export interface Edit<T> {
  /** The state before the first edit, with the names of the draft. Null if the object is new. */
  before: T | null;
  /** The state after the edits. Null if the object is removed. */
  after: T | null;
  /** True if the former object is removed, and `after` is a new one with the same name. */
  recreated?: true;
  /** Only for a field: what the rows get in which it is null. */
  backfill?: Backfill;
}

/** Maps new names to names at the head. */
type FormerNames = ReadonlyMap<string, string>;

export interface Draft {
  /** The position of the log when the draft was begun. 0 while it is empty. */
  position: number;
  names: {
    collections: FormerNames;
    /** Keyed by the collection's name in the draft. */
    fields: ReadonlyMap<string, FormerNames>;
    /** Former ids by the keys of the objects. */
    objects: FormerNames;
  };
  /** Edits by the names of the draft, see `keyOf`. */
  collections: ReadonlyMap<string, Edit<Collection>>;
  fields: ReadonlyMap<string, Edit<Field>>;
  relations: ReadonlyMap<string, Edit<NewRelation>>;
  objects: ReadonlyMap<string, Edit<SchemaObject>>;
}

export type Part = 'collections' | 'fields' | 'relations' | 'objects';
export const PARTS: readonly Part[] = ['collections', 'fields', 'relations', 'objects'];

export interface Documents {
  collections: Collection;
  fields: Field;
  relations: NewRelation;
  objects: SchemaObject;
}

export const EMPTY: Draft = {
  position: 0,
  names: { collections: new Map(), fields: new Map(), objects: new Map() },
  collections: new Map(),
  fields: new Map(),
  relations: new Map(),
  objects: new Map(),
};

/**
 * Returns the key of a field. A relation has the key of its field on the many side. The separator is a null character,
 * which no name contains.
 */
export const memberKey = (collection: string, field: string): string => `${collection}\0${field}`;

/** Returns the collection of a key. The key of a collection is the name itself. */
export const collectionOfKey = (key: string): string => key.split('\0', 1)[0] ?? '';

/** Returns the key of an object. Its first part is the id, as that of the others is the collection. */
export const objectKeyOf = ({ kind, id }: ObjectName): string => memberKey(id, kind);

/** The key of a document within its part. */
export const keyOf: { [P in Part]: (document: Documents[P]) => string } = {
  collections: ({ collection }) => collection,
  fields: ({ collection, field }) => memberKey(collection, field),
  relations: ({ many_collection, many_field }) => memberKey(many_collection, many_field),
  objects: objectKeyOf,
};

/** True if the draft contains no edits. The position does not matter. */
export function isEmpty({ names, ...draft }: Draft): boolean {
  const maps = [names.collections, names.fields, names.objects, ...PARTS.map((part) => draft[part])];
  return maps.every(({ size }) => size === 0);
}

/**
 * Returns the changes as in the diff of the draft: one per object, and two for an object that replaces another object
 * of the same name. The fields and relations of a new collection are included.
 */
export const changesIn = (draft: Draft): CountedChange[] =>
  PARTS.flatMap((part) =>
    [...new Set([...draft[part].keys(), ...renamedKeys(draft, part)])].flatMap((key) => {
      return marksOf(draft, part, key).map((mark) => ({ ...namesIn(part, key), mark }));
    }),
  );

/** Returns the names in a key. */
export function namesIn(part: Part, key: string): Omit<CountedChange, 'mark' | 'kind'> & { kind: ObjectKind | null } {
  const [collection = '', second = null] = key.split('\0');
  return part === 'objects'
    ? { part, collection, field: null, kind: second as ObjectKind }
    : { part, collection, field: second, kind: null };
}

function marksOf(draft: Draft, part: Part, key: string): CountedChange['mark'][] {
  const edit = draft[part].get(key);
  if (edit?.after === null) return ['removed'];
  if (edit?.recreated === true) return ['removed', 'made'];
  if (edit?.before === null) return ['made'];
  return [formerName(draft, part, key) === undefined ? 'changed' : 'renamed'];
}

/** Returns the keys of the objects that the draft renames. */
export function renamedKeys({ names }: Draft, part: Part): string[] {
  if (part === 'collections' || part === 'objects') return [...names[part].keys()];
  if (part === 'relations') return [];
  return [...names.fields].flatMap(([collection, former]) =>
    [...former.keys()].map((field) => memberKey(collection, field)),
  );
}

/** Returns the collections that the draft changes, by their names at the head. */
export function touchedAtHead(draft: Draft): string[] {
  const names = new Set<string>();
  const add = (name: string): void => void names.add(draft.names.collections.get(name) ?? name);
  for (const part of PARTS) if (part !== 'objects') for (const key of draft[part].keys()) add(collectionOfKey(key));
  for (const name of [...draft.names.collections.keys(), ...draft.names.fields.keys()]) add(name);
  return [...names].sort();
}

/** Returns the name at the head of an object that the draft renames. */
export function formerName({ names }: Draft, part: Part, key: string): string | undefined {
  const [collection = '', field = ''] = key.split('\0');
  if (part === 'relations') return undefined;
  return part !== 'fields' ? names[part].get(key) : names.fields.get(collection)?.get(field);
}

/** Returns the name at the head of an object that the draft does not create. */
export const formerObject = (draft: Draft, { kind, id }: ObjectName): ObjectName => ({
  kind,
  id: formerName(draft, 'objects', objectKeyOf({ kind, id })) ?? id,
});

export const isInDraft = ({ names, objects }: Draft, object: ObjectName): boolean =>
  objects.has(objectKeyOf(object)) || names.objects.has(objectKeyOf(object));

/* Converts responses to documents in normal form, without derived members. */

/** @param document a document from a list or a snapshot. Only snapshots contain extras */
export function collectionOf({ collection, meta, schema }: CollectionDocument | ListedCollection): Collection {
  const { collection: _, system: __, ...own } = meta;
  if (schema === null) return { collection, meta: own, schema };
  const { comment = null, extras } = schema as Partial<NonNullable<Collection['schema']>>;
  return { collection, meta: own, schema: { comment, ...(extras && { extras }) } };
}

const DERIVED = new Set(['name', 'table', 'schema', 'is_generated', 'foreign_key_table', 'foreign_key_column']);

/**
 * Returns the field without the members of its column that derive from the field and its relation: name, table and
 * foreign key.
 */
export function fieldOf({ collection, field, type, meta, schema }: FieldDocument): Field {
  const { collection: _, field: __, system: ___, ...own } = meta as typeof meta & { system?: boolean };
  if (schema === null) return { collection, field, type, meta: own, schema };
  const column = Object.fromEntries(Object.entries(schema).filter(([member]) => !DERIVED.has(member)));
  return { collection, field, type, meta: own, schema: column as unknown as NonNullable<Field['schema']> };
}

type RelationMembers = Pick<RelationDocument, 'meta' | 'schema'>;

/** @param document a document of /relations, or the flat form of a snapshot */
export function relationOf(document: RelationMembers | NewRelation): NewRelation {
  const ends = 'meta' in document ? document.meta : document;
  const { schema } = document;
  const { id: _, schema: __, ...own } = ends as Relation;
  if (schema === null) return { ...own, schema };
  const { constraint_name, on_update, on_delete, deferrable } = schema;
  return { ...own, schema: { constraint_name, on_update, on_delete, ...(deferrable && { deferrable }) } };
}

const VERSION = 1;

type Pairs<T> = [string, T][];

interface StoredDraft {
  version: typeof VERSION;
  position: number;
  names: { collections: Pairs<string>; fields: Pairs<Pairs<string>>; objects?: Pairs<string> };
  collections: Pairs<Edit<object>>;
  fields: Pairs<Edit<object>>;
  relations: Pairs<Edit<object>>;
  /** Absent in drafts of earlier releases, like the names. */
  objects?: Pairs<Edit<object>>;
}

/** Returns the JSON that `readDraft` reads. */
export function draftText({ position, names, collections, fields, relations, objects }: Draft): string {
  const kept: StoredDraft = {
    version: VERSION,
    position,
    names: {
      collections: [...names.collections],
      fields: [...names.fields].map(([name, former]) => [name, [...former]]),
      objects: [...names.objects],
    },
    collections: [...collections],
    fields: [...fields],
    relations: [...relations],
    objects: [...objects],
  };
  return JSON.stringify(kept);
}

/** Reads a stored draft. An invalid draft, or one of another release, is read as an empty draft. */
export function readDraft(text: string | null): Draft {
  if (text === null) return EMPTY;
  try {
    const kept = JSON.parse(text) as StoredDraft;
    if (kept.version !== VERSION) return EMPTY;
    const [collections, fields, relations, objects] = PARTS.map((part) => new Map(kept[part]));
    return {
      position: kept.position,
      names: {
        collections: new Map(kept.names.collections),
        fields: new Map(kept.names.fields.map(([name, former]) => [name, new Map(former)])),
        objects: new Map(kept.names.objects),
      },
      collections,
      fields,
      relations,
      objects,
    } as Draft;
  } catch {
    return EMPTY;
  }
}
