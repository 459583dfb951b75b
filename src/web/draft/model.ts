import type { Collection, Field, NewRelation } from '../../schema/model/model.js';

export interface Edit<T> {
  /** The state before the first edit, in the draft's names; null if it is new. */
  before: T | null;
  /** Null if it is removed. */
  after: T | null;
  /** The former object is removed, and `after` is a new one with its name. */
  recreated?: true;
}

/** Maps new names to names at the head. */
type FormerNames = ReadonlyMap<string, string>;

export interface Draft {
  /** The position of the log when it was begun; 0 while it is empty. */
  position: number;
  names: {
    collections: FormerNames;
    /** By the collection's name in the draft. */
    fields: ReadonlyMap<string, FormerNames>;
  };
  /** In the draft's names; fields and relations by `memberKey`. */
  collections: ReadonlyMap<string, Edit<Collection>>;
  fields: ReadonlyMap<string, Edit<Field>>;
  relations: ReadonlyMap<string, Edit<NewRelation>>;
}

export type Part = 'collections' | 'fields' | 'relations';
export const PARTS: readonly Part[] = ['collections', 'fields', 'relations'];

export interface Documents {
  collections: Collection;
  fields: Field;
  relations: NewRelation;
}

export const EMPTY: Draft = {
  position: 0,
  names: { collections: new Map(), fields: new Map() },
  collections: new Map(),
  fields: new Map(),
  relations: new Map(),
};

/**
 * The key of a field, and of a relation by its many side. The separator is a null character, which no name contains.
 */
export const memberKey = (collection: string, field: string): string => `${collection}\0${field}`;

/** For the key of a collection: the key itself. */
export const collectionOfKey = (key: string): string => key.split('\0', 1)[0] ?? '';

/** The key of a document within its part. */
export const keyOf: { [P in Part]: (document: Documents[P]) => string } = {
  collections: ({ collection }) => collection,
  fields: ({ collection, field }) => memberKey(collection, field),
  relations: ({ many_collection, many_field }) => memberKey(many_collection, many_field),
};

/** Ignores the position. */
export function isEmpty({ names, collections, fields, relations }: Draft): boolean {
  return names.collections.size + names.fields.size + collections.size + fields.size + relations.size === 0;
}

export interface DraftedChange {
  part: Part;
  collection: string;
  /** The field, or the many field of a relation. */
  field: string | null;
  how: 'made' | 'changed' | 'removed' | 'renamed';
  /** The former name of a renamed object. */
  from?: string;
}

/** One entry per changed object. The content of a new or removed collection counts with it. */
export function changesIn(draft: Draft): DraftedChange[] {
  const isWhole = (collection: string): boolean => {
    const edit = draft.collections.get(collection);
    return edit !== undefined && (edit.before === null || edit.after === null);
  };
  const found = renamesIn(draft);
  for (const part of PARTS) {
    for (const [key, edit] of draft[part]) {
      const [collection = '', field = null] = key.split('\0');
      if (field !== null && isWhole(collection)) continue;
      const how = edit.before === null ? 'made' : edit.after === null ? 'removed' : 'changed';
      found.push({ part, collection, field, how });
    }
  }
  return found;
}

function renamesIn({ names }: Draft): DraftedChange[] {
  const collections = [...names.collections].map(([collection, from]): DraftedChange => ({
    part: 'collections',
    collection,
    field: null,
    how: 'renamed',
    from,
  }));
  const fields = [...names.fields].flatMap(([collection, former]) =>
    [...former].map(([field, from]): DraftedChange => ({ part: 'fields', collection, field, how: 'renamed', from })),
  );
  return [...collections, ...fields];
}

/** The collections of the draft by their names at the head, without new ones. */
export function touchedAtHead(draft: Draft): string[] {
  const found = new Set<string>();
  const add = (name: string): void => void found.add(draft.names.collections.get(name) ?? name);
  for (const part of PARTS) for (const key of draft[part].keys()) add(collectionOfKey(key));
  for (const name of [...draft.names.collections.keys(), ...draft.names.fields.keys()]) add(name);
  return [...found].sort();
}

/** The name at the head of an object that the draft renames. */
export function formerName({ names }: Draft, part: Part, key: string): string | undefined {
  const [collection = '', field = ''] = key.split('\0');
  if (part === 'relations') return undefined;
  return part === 'collections' ? names.collections.get(key) : names.fields.get(collection)?.get(field);
}
