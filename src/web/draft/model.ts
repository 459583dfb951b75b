/** A draft: what the user changed of the schema and hasn't applied yet. Pure: kept by store.ts, sent by the review. */
import type { Collection, Field, NewRelation } from '../../schema/model/model.js';

export interface Edit<T> {
  /** As it was when it was first edited, by the names that the draft gives; null: there was none. */
  before: T | null;
  /** null: it goes. */
  after: T | null;
  /** What was there goes; `after` is another thing of the same name. */
  recreated?: true;
}

/** By new names, what they are at the head. */
export type FormerNames = ReadonlyMap<string, string>;

export interface Draft {
  /** The position of the log when it was begun; 0 while it is empty. */
  position: number;
  names: {
    collections: FormerNames;
    /** Per collection, by the name that the draft gives it. */
    fields: ReadonlyMap<string, FormerNames>;
  };
  /** All by the names that the draft gives; fields and relations by `memberKey`. */
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

/** The key of a field, and of a relation by its many side: parted by a null character, which no name holds. */
export const memberKey = (collection: string, field: string): string => `${collection}\0${field}`;

/** Of a collection's key too: the key itself. */
export const collectionOfKey = (key: string): string => key.split('\0', 1)[0] ?? '';

/** What names the document of a part. */
export const keyOf: { [P in Part]: (document: Documents[P]) => string } = {
  collections: ({ collection }) => collection,
  fields: ({ collection, field }) => memberKey(collection, field),
  relations: ({ many_collection, many_field }) => memberKey(many_collection, many_field),
};

/** Whether the draft changes nothing; its position doesn't count. */
export function isEmpty({ names, collections, fields, relations }: Draft): boolean {
  return names.collections.size + names.fields.size + collections.size + fields.size + relations.size === 0;
}

export interface DraftedChange {
  part: Part;
  collection: string;
  /** Of fields, and of relations the many field. */
  field: string | null;
  how: 'made' | 'changed' | 'removed' | 'renamed';
  /** Of a renamed one. */
  from?: string;
}

/** One for each thing that the draft changes; what comes with a new collection, or goes with one, counts with it. */
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

/** The collections that a draft is about, by their names at the head; new ones aren't there. */
export function touchedAtHead(draft: Draft): string[] {
  const found = new Set<string>();
  const add = (name: string): void => void found.add(draft.names.collections.get(name) ?? name);
  for (const part of PARTS) for (const key of draft[part].keys()) add(collectionOfKey(key));
  for (const name of [...draft.names.collections.keys(), ...draft.names.fields.keys()]) add(name);
  return [...found].sort();
}

/** What something that the draft renames is called at the head. */
export function formerName({ names }: Draft, part: Part, key: string): string | undefined {
  const [collection = '', field = ''] = key.split('\0');
  if (part === 'relations') return undefined;
  return part === 'collections' ? names.collections.get(key) : names.fields.get(collection)?.get(field);
}
