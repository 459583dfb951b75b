/* The context of a transition, and helpers of its phases. */
import type { Collection, Field, NewRelation, Relation } from '../model/model.js';
import { type CollectionNode, type Identity, type State, getField, isIndexed, isFolder } from '../model/state.js';
import type { NewEvent } from '../model/events.js';
import type { Resumable } from '../../kernel/resumable.js';

/* Finds the objects that a change removes. */

interface Removals {
  /** Includes collections that become a table or a folder. */
  collections: ReadonlySet<string>;
  /** Removed fields per remaining collection, including those that become a column or an alias. */
  fields: ReadonlyMap<string, ReadonlySet<string>>;
}

/**
 * An object that changes its kind is removed and created again. @param names collections that may differ, by the names
 * of both states
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

export interface TransitionOptions {
  /** Builds indexes of new and changed fields after the commit. */
  concurrentIndexes?: boolean;
  /** Objects restored from the trash, by identity. Other new objects have none. */
  restores?: ReadonlyMap<Identity, Restores>;
}

/** The trash entry and the former name of a restored object. */
export interface Restores {
  /** Position of the event that deleted it or its collection. */
  position: number;
  /** The collection's name when it was deleted. */
  name: string;
  /** The number of the shared trash schema with its table. */
  kept_in?: number | undefined;
  /** True if the trash has no data, so that it is created empty. */
  empty?: boolean;
}

/** `names`: the collections that may differ, in order. */
export interface TransitionContext {
  from: State;
  to: State;
  names: string[];
  /** Collections in both states. A replaced collection is not among them. */
  surviving: readonly SurvivingCollection[];
  removals: Removals;
  options: TransitionOptions;
}

/** The documents after references were detached, if changed. */
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

/** One part of a transition: the events of one collection or field after the other. */
export type Phase = Iterable<readonly NewEvent[]>;

export function* phase<T>(items: Iterable<T>, eventsOfItem: (item: T) => readonly NewEvent[]): Phase {
  for (const item of items) yield eventsOfItem(item);
}

/** Runs the phases in order, with a step for each item. A phase starts when those before it have ended. */
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

/** Returns a relation without its id, for comparisons. The id belongs to the log. */
export function relationBody(relation: Relation): NewRelation {
  const { id: _id, ...body } = relation;
  return body;
}

/** True if a column has another type or key in the other state, so that foreign keys on it must be dropped first. */
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

/** True if an event builds the index of a field after the commit. */
export function concurrentIndexOption(
  { options }: Pick<TransitionContext, 'options'>,
  before: Field | undefined,
  after: Field,
): { concurrent_indexes?: boolean } {
  const builds = isIndexed(after) && !(before !== undefined && isIndexed(before));
  return options.concurrentIndexes === true && builds ? { concurrent_indexes: true } : {};
}
