/** What a transition works on, and the small questions its phases ask. */

import type { Collection, Field, NewRelation, Relation } from '../model/model.js';
import { type Removals, isReplacedCollection } from './removed-objects.js';
import { type CollectionNode, type Identity, type State, getField, isIndexed } from '../model/state.js';
import type { NewEvent } from '../model/events.js';
import type { Resumable } from '../../kernel/resumable.js';

export interface TransitionOptions {
  /** Indexes of new and changed fields are built after the commit. */
  concurrentIndexes?: boolean;
  /** What comes back from the trash, by its identity: nothing else that is new has one. */
  restores?: ReadonlyMap<Identity, Restores>;
}

/** Where the trash has what comes back, and what it is called there. */
export interface Restores {
  /** Of the event that deleted it, or the collection that it went with. */
  position: number;
  /** The collection's name when it was deleted. */
  name: string;
  /** The trash has nothing of it: it is made, and empty. */
  empty?: boolean;
}

/** `names`: the collections that may differ, ordered. */
export interface TransitionContext {
  from: State;
  to: State;
  names: string[];
  /** Of the names, those that both states have; a replaced collection is another one in each. */
  surviving: readonly Surviving[];
  removals: Removals;
  options: TransitionOptions;
}

/** What each holder of a reference looks like after it was detached, for those that had to be. */
export interface Detached {
  collections: Map<string, Collection>;
  /** By memberKey. */
  fields: Map<string, Field>;
  /** By memberKey. */
  relations: Map<string, Relation>;
}

export interface Surviving {
  name: string;
  before: CollectionNode;
  after: CollectionNode;
}

/** The events of a part of a transition; what comes between them are steps without one. */
export type EventSteps = Generator<NewEvent | void, void, void>;

/** Adds the events of `part`. */
export function* addEvents(events: NewEvent[], part: EventSteps): Resumable<void> {
  for (const event of part) {
    if (event !== undefined) events.push(event);
    yield;
  }
}

/** The collections that both states have, as pairs. */
export function* survivingOf(from: State, to: State, names: readonly string[]): Resumable<Surviving[]> {
  const pairs: Surviving[] = [];
  for (const name of names) {
    yield;
    const before = from.collections.get(name);
    const after = to.collections.get(name);
    if (before === undefined || after === undefined || isReplacedCollection(before, after)) continue;
    pairs.push({ name, before, after });
  }
  return pairs;
}

/** A relation as commands and documents compare it: without the id, which is the log's. */
export function relationBody(relation: Relation): NewRelation {
  const { id: _id, ...body } = relation;
  return body;
}

/** Whether a field's column has another type or key in the other state: foreign keys on it must be dropped first. */
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

/** Whether an event leaves the index of a field to be built after the commit. */
export function concurrently(
  { options }: Pick<TransitionContext, 'options'>,
  before: Field | undefined,
  after: Field,
): { concurrent_indexes?: boolean } {
  const builds = isIndexed(after) && !(before !== undefined && isIndexed(before));
  return options.concurrentIndexes === true && builds ? { concurrent_indexes: true } : {};
}
