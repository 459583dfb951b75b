/** Finds the objects that a change removes. */
import { isFolder, type CollectionNode, type State } from '../model/state.js';
import type { Field, Relation } from '../model/model.js';
import type { Resumable } from '../../kernel/resumable.js';

export interface Removals {
  /** Includes collections that become a table or a folder. */
  collections: ReadonlySet<string>;
  /** Removed fields per remaining collection, including those that become a column or an alias. */
  fields: ReadonlyMap<string, ReadonlySet<string>>;
}

/**
 * An object that changes its kind is removed and created again. @param names collections that may differ, by the names
 * of both states
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

/** A table cannot become a folder, nor a folder a table. That is another collection of the same name. */
export function isReplacedCollection(before: CollectionNode, after: CollectionNode): boolean {
  return isFolder(before) !== isFolder(after);
}

const isGone = (before: Field, after: Field | undefined): boolean =>
  after === undefined || isReplacedField(before, after);

/**
 * A column cannot become an alias, nor an alias a column. Columns cannot be converted from or to an unsupported type.
 * That is another field of the same name. A type that a later release supports is still the same type.
 */
export function isReplacedField({ type, schema }: Field, after: Field): boolean {
  if ((schema === null) !== (after.schema === null)) return true;
  return (type === 'unknown') !== (after.type === 'unknown') && schema?.data_type !== after.schema?.data_type;
}

/** A relation with another target is a different one: its foreign key is dropped, and a new one is created. */
export function isReplacedRelation(before: Relation, after: Relation): boolean {
  return before.one_collection !== after.one_collection || before.one_collection_field !== after.one_collection_field;
}
