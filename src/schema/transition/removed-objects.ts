/** What a change takes away. */
import { isFolder, type CollectionNode, type State } from '../model/state.js';
import type { Field, Relation } from '../model/model.js';
import type { Resumable } from '../../kernel/resumable.js';

export interface Removals {
  /** Those that become a table or stop being one are among them. */
  collections: ReadonlySet<string>;
  /** Per surviving collection, the fields that go; those that become a column or stop being one are among them. */
  fields: ReadonlyMap<string, ReadonlySet<string>>;
}

/**
 * What becomes another kind of thing goes too, and comes again. @param names the collections that may differ, by the
 * names of both states
 */
export function* removalsBetween(from: State, to: State, names: readonly string[]): Resumable<Removals> {
  const collections = new Set<string>();
  const fields = new Map<string, Set<string>>();
  for (const name of names) {
    yield;
    const before = from.collections.get(name);
    const after = to.collections.get(name);
    if (before === undefined) continue;
    if (after === undefined || isReplacedCollection(before, after)) collections.add(name);
    else if (before.fields !== after.fields) {
      const gone = [...before.fields.values()].filter((field) => isGone(field, after.fields.get(field.field)));
      if (gone.length > 0) fields.set(name, new Set(gone.map((field) => field.field)));
    }
  }
  return { collections, fields };
}

/** A table can't become a folder, nor a folder a table: that is another collection of the same name. */
export function isReplacedCollection(before: CollectionNode, after: CollectionNode): boolean {
  return isFolder(before) !== isFolder(after);
}

const isGone = (before: Field, after: Field | undefined): boolean =>
  after === undefined || isReplacedField(before, after);

/**
 * A column can't become an alias, nor an alias a column, and to and from a type that the service has no name for no
 * column can be converted: that is another field of the same name.
 */
export function isReplacedField(before: Field, after: Field): boolean {
  return (
    (before.schema === null) !== (after.schema === null) || (before.type === 'unknown') !== (after.type === 'unknown')
  );
}

/** A relation that points elsewhere is another relation: its old foreign key goes, a new one comes. */
export function isReplacedRelation(before: Relation, after: Relation): boolean {
  return before.one_collection !== after.one_collection || before.one_collection_field !== after.one_collection_field;
}
