/** The part of the schema that programs see, for all languages. */
import type { Resumable } from '../../kernel/resumable.js';
import type { Field, Relation } from '../model/model.js';
import { collectionsInOrder, fieldsInOrder } from '../model/order.js';
import { type CollectionNode, type State, isFolder, primaryKeyOf, relationsTo, byName } from '../model/state.js';
import { sortedInSteps } from '../../kernel/sorted.js';

/* Safe names of collections and fields in programs. */

const IDENTIFIER = /^[A-Za-z_$][A-Za-z0-9_$]*$/;

/** Returns a member name, quoted if necessary. JSON does not escape some line terminators, which are escaped here. */
export function memberName(name: string): string {
  return IDENTIFIER.test(name) && name !== '__proto__' ? name : textLiteral(name);
}

/** A string literal of TypeScript and JSON. */
export const textLiteral = (text: string): string =>
  JSON.stringify(text).replaceAll(/[\u2028\u2029\u007f-\u009f]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });

/** Text for a comment: on one line, and unable to end the comment. */
export const commentText = (text: string): string =>
  text
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .replaceAll('*/', '*\\/')
    .trim();

/** Type names that the program already uses and that collections could have. */
const TAKEN: readonly string[] = ['Schema', 'Record', 'Array', 'Object', 'Json'];

/** Returns a unique type name for each collection: `blog_posts` becomes `BlogPosts`. */
export function* typeNames(collections: Iterable<string>): Resumable<ReadonlyMap<string, string>> {
  // Number of uses per name. Names never contain the underscore before a number, so numbered names are unique.
  const taken = new Map(TAKEN.map((name) => [name, 1]));
  const found = new Map<string, string>();
  for (const collection of yield* sortedInSteps(collections, byName)) {
    const words = collection.split(/[^A-Za-z0-9]+/);
    const joined = words.map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`).join('');
    const name = /^[A-Za-z]/.test(joined) ? joined : `Collection${joined}`;
    const number = (taken.get(name) ?? 0) + 1;
    taken.set(name, number);
    found.set(collection, number === 1 ? name : `${name}_${number}`);
    yield;
  }
  return found;
}

interface ItemType {
  collection: string;
  /** The name of the type. */
  name: string;
  singleton: boolean;
  note: string | null;
  fields: ItemField[];
}

export interface ItemField {
  field: Field;
  /** The collections of the related items. Null if the field holds a value. */
  target: { kind: 'one' | 'many'; collections: readonly string[] } | null;
}

export interface Outline {
  items: ItemType[];
  /** By collection. */
  names: ReadonlyMap<string, string>;
  /** Returns the key of a collection. Undefined without a table. */
  keyOf(collection: string): Field | undefined;
}

/** Contains only tables, because folders have no items. */
export function* outlineOf(state: State): Resumable<Outline> {
  const nodes = (yield* collectionsInOrder(state)).filter((node) => !isFolder(node));
  const names = yield* typeNames(nodes.map(({ collection: { collection } }) => collection));
  const items: ItemType[] = [];
  for (const node of nodes) {
    const { collection, meta } = node.collection;
    const toMany = aliasesOf(state, node);
    const fields: ItemField[] = [];
    for (const field of fieldsInOrder(node)) {
      const target = targetOf(field, node.relations.get(field.field), toMany);
      // An alias without a relation holds no value.
      if (field.schema !== null || target !== null) fields.push({ field, target });
      yield;
    }
    items.push({ collection, name: names.get(collection) ?? '', singleton: meta.singleton, note: meta.note, fields });
    yield;
  }
  const keyOf = (collection: string): Field | undefined => {
    const node = state.collections.get(collection);
    return node === undefined ? undefined : primaryKeyOf(node)[0];
  };
  return { items, names, keyOf };
}

/** Returns the collections whose items an alias field lists, by field. */
function aliasesOf(state: State, { collection: { collection } }: CollectionNode): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const { one_collection, one_field, many_collection } of relationsTo(state, collection)) {
    if (one_collection === collection && one_field !== null) found.set(one_field, many_collection);
  }
  return found;
}

function targetOf(
  { field, schema }: Field,
  relation: Relation | undefined,
  toMany: ReadonlyMap<string, string>,
): ItemField['target'] {
  const many = toMany.get(field);
  if (schema === null) return many === undefined ? null : { kind: 'many', collections: [many] };
  if (relation === undefined) return null;
  const { one_collection, one_allowed_collections } = relation;
  return { kind: 'one', collections: one_collection === null ? (one_allowed_collections ?? []) : [one_collection] };
}
