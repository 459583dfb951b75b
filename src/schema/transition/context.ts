/* Defines the context of a transition and helpers of its phases. */
import type { Collection, Field, NewRelation, Relation } from '../model/model.js';
import {
  type CollectionNode,
  type Identity,
  type State,
  getField,
  isElsewhere,
  isIndexed,
  isFolder,
  memberKey,
} from '../model/state.js';
import type { Backfill, Backfills } from '../model/backfill.js';
import type { NewEvent } from '../model/events.js';
import type { Resumable } from '../../kernel/resumable.js';
import { hasKnownType } from '../sql-text/object-table.js';

/* Finds the objects that a change removes. */

interface Removals {
  /** The removed collections, including those that change between table and folder. */
  collections: ReadonlySet<string>;
  /** Removed fields per remaining collection, including those that change between column and alias. */
  fields: ReadonlyMap<string, ReadonlySet<string>>;
}

/**
 * Finds the objects that a change removes. An object that changes its kind is removed and created again.
 * @param names collections that may differ, by the names of both states
 */
export function findRemovals(from: State, to: State, names: readonly string[]): Removals {
  const collections = new Set<string>();
  const fields = new Map<string, Set<string>>();
  for (const name of names) {
    const before = from.collections.get(name);
    const after = to.collections.get(name);
    if (before === undefined) continue;
    if (after === undefined || isReplacedCollection(before, after)) collections.add(name);
    else if (before.fields !== after.fields) {
      const gone = [...before.fields.values()].filter((field) => {
        const now = after.fields.get(field.field);
        return now === undefined || isReplacedField(field, now, { from, to });
      });
      if (gone.length > 0) fields.set(name, new Set(gone.map((field) => field.field)));
    }
  }
  return { collections, fields };
}

/**
 * True if a table becomes a folder or a folder a table, which cannot be converted, or if another table has the name. The
 * result is another collection of the same name. Both states must have the same names and locations of renamed tables.
 */
export function isReplacedCollection(before: CollectionNode, after: CollectionNode): boolean {
  return isFolder(before) !== isFolder(after) || isElsewhere(before.collection, after.collection);
}

/**
 * True if a column becomes an alias or an alias a column, or if the type changes from or to an unsupported one. Such a
 * field cannot be converted, so the result is another field of the same name. A type that a later release supports is
 * still the same type.
 */
export function isReplacedField(before: Field, after: Field, { from, to }: Record<'from' | 'to', State>): boolean {
  if ((before.schema === null) !== (after.schema === null)) return true;
  if ((before.type === 'unknown') === (after.type === 'unknown')) return false;
  return (
    before.schema?.data_type !== after.schema?.data_type && !(hasKnownType(from, before) && hasKnownType(to, after))
  );
}

/** True if a relation gets another target. Its foreign key is then dropped, and a new one is created. */
export function isReplacedRelation(before: Relation, after: Relation): boolean {
  return before.one_collection !== after.one_collection || before.one_collection_field !== after.one_collection_field;
}

export interface TransitionOptions {
  /** True to build the indexes of new and changed fields after the commit. */
  concurrentIndexes?: boolean;
  /** The restored objects, by identity. Other new objects have none. */
  restores?: ReadonlyMap<Identity, Restores>;
  /** The backfills of created and changed fields, by their names in the target. */
  backfills?: Backfills;
}

/** The trash entry and the former name of a restored object. */
export interface Restores {
  /** Position of the event that deleted the object or its collection. */
  position: number;
  /** The name of the collection when the object was deleted. */
  name: string;
  /** The number of the shared trash schema that contains the table. */
  kept_in?: number | undefined;
  /** True if the trash has no data, so that the object is created empty. */
  empty?: boolean;
}

/** `names` contains the collections that may differ, in order. */
export interface TransitionContext {
  from: State;
  to: State;
  names: string[];
  /** Collections in both states. A replaced collection is not included. */
  surviving: readonly SurvivingCollection[];
  removals: Removals;
  options: TransitionOptions;
}

/** The documents that detaching references has changed. */
export interface DetachedDocuments {
  collections: Map<string, Collection>;
  /** Keyed by memberKey. */
  fields: Map<string, Field>;
  /** Keyed by memberKey. */
  relations: Map<string, Relation>;
}

export interface SurvivingCollection {
  name: string;
  before: CollectionNode;
  after: CollectionNode;
}

/** One phase of a transition. Each item contains the events of one collection or field. */
export type Phase = Iterable<readonly NewEvent[]>;

export function* phase<T>(items: Iterable<T>, eventsOfItem: (item: T) => readonly NewEvent[]): Phase {
  for (const item of items) yield eventsOfItem(item);
}

/** Runs the phases in order and pauses after each item. A phase starts when all earlier ones have ended. */
export function* eventsOf(phases: readonly (() => Phase)[]): Resumable<NewEvent[]> {
  const events: NewEvent[] = [];
  for (const start of phases) {
    for (const next of start()) {
      for (const event of next) events.push(event);
      yield;
    }
    yield;
  }
  return events;
}

/** Returns the collections of both states as pairs. */
export function findSurviving(from: State, to: State, names: readonly string[]): SurvivingCollection[] {
  const pairs: SurvivingCollection[] = [];
  for (const name of names) {
    const before = from.collections.get(name);
    const after = to.collections.get(name);
    if (before === undefined || after === undefined || isReplacedCollection(before, after)) continue;
    pairs.push({ name, before, after });
  }
  return pairs;
}

/** Returns a relation without its id, which belongs to the log. Used for comparisons. */
export function relationBody(relation: Relation): NewRelation {
  const { id: _id, ...body } = relation;
  return body;
}

/**
 * True if a column has a different type or key in the other state. Foreign keys on the column must then be dropped first.
 */
export function columnChanges(from: State, to: State, collection: string, field: string): boolean {
  const before = getField(from, collection, field)?.schema;
  const after = getField(to, collection, field)?.schema;
  if (!before || !after) return true;
  return (
    before.data_type !== after.data_type ||
    before.max_length !== after.max_length ||
    before.numeric_precision !== after.numeric_precision ||
    before.numeric_scale !== after.numeric_scale ||
    before.is_primary_key !== after.is_primary_key
  );
}

/** Returns the event option that builds the index of a field after the commit, if the event has one. */
export function concurrentIndexOption(
  { options }: Pick<TransitionContext, 'options'>,
  before: Field | undefined,
  after: Field,
): { concurrent_indexes?: boolean } {
  const builds = isIndexed(after) && !(before !== undefined && isIndexed(before));
  return options.concurrentIndexes === true && builds ? { concurrent_indexes: true } : {};
}

/** Returns the event option that fills rows of a field, if the change requests it. */
export function backfillOption(
  { options }: Pick<TransitionContext, 'options'>,
  collection: string,
  field: string,
): { backfill?: Backfill } {
  const backfill = options.backfills?.get(memberKey(collection, field));
  return backfill === undefined ? {} : { backfill };
}
