/**
 * Returns the ordered events between two states. Every command uses this order, in which every prefix is a valid schema:
 *
 * 1. Remove objects whose names others take.
 * 2. Rename.
 * 3. Remove relations.
 * 4. Detach references to removed objects, and add needs of columns.
 * 5. Remove fields, then collections.
 * 6. Create collections (groups first), then fields.
 * 7. Update fields, then collections, because archive_field and sort_field may name a new field.
 * 8. Create and update relations.
 */
import {
  memberKey,
  extrasOf,
  type State,
  byName,
  getRelation,
  groupedIn,
  isIndexed,
  type CollectionNode,
  type Identity,
} from '../model/state.js';
import {
  type EventSteps,
  type Surviving,
  type TransitionContext,
  type TransitionOptions,
  concurrently,
  addEvents,
  relationBody,
  survivingOf,
  type Restores,
  isReplacedCollection,
  isReplacedRelation,
  removalsBetween,
} from './context.js';
import { sortedInSteps } from '../../kernel/sorted.js';
import { type NewEvent, newEvent, trashSubject, type RestoredCollection, type RestoredField } from '../model/events.js';
import { detach } from './detach.js';
import type { Collection, Field, Relation } from '../model/model.js';
import { groupsFirst, neededFirst, partitionsFirst, relationsInOrder, parentOf } from '../model/order.js';
import { patchBetween } from '../fold/rename-events.js';
import type { Resumable } from '../../kernel/resumable.js';
import { isNone, renameEvents, renamesBetween, withoutInTheWay } from './renames.js';
import { collectionsChanged } from '../fold/event-schemas.js';
import { indexNameOf, uniqueNameOf } from '../model/constraint-names.js';

/* Creates new collections and fields, including restored ones. */

/** Creates collections with fields and without relations. Groups and referenced objects come first. */
function* createCollections({ from, to, names, removals, options }: TransitionContext): EventSteps {
  const isGone = (name: string) => !from.collections.has(name) || removals.collections.has(name);
  const created: string[] = [];
  for (const name of names) {
    if (isGone(name) && to.collections.has(name)) created.push(name);
    yield;
  }
  for (const name of yield* neededFirst(created, (each) => holdersOf(to, each))) {
    const node = to.collections.get(name) as CollectionNode;
    const { collection, fields } = node;
    const { restored } = restoredCollection({ options }, node);
    // A restored object's index may not have been built when it was deleted.
    const later = options.concurrentIndexes === true || restored !== undefined;
    const concurrent = later && [...fields.values()].some(isIndexed);
    const event = newEvent('collection.created', name, null, {
      collection,
      fields: [...fields.values()],
      ...(concurrent ? { concurrent_indexes: true } : {}),
      ...(restored && { restored }),
    });
    yield withSubject(event, restored);
  }
}

/** For remaining collections. Groups come before their members. */
function* createFields(change: TransitionContext): EventSteps {
  for (const { name, before, after } of change.surviving) {
    yield;
    if (before.fields === after.fields) continue;
    const gone = change.removals.fields.get(name);
    const created = [...after.fields.keys()].filter((field) => !before.fields.has(field) || gone?.has(field));
    for (const field of yield* groupsFirst(created, (each) => after.fields.get(each)?.meta.group)) {
      const value = after.fields.get(field) as Field;
      const { restored } = restoredField(change, after, field);
      const event = newEvent('field.created', name, field, {
        field: value,
        ...concurrently(change, undefined, value),
        ...(restored && { restored }),
      });
      yield withSubject(event, restored);
    }
  }
}

/** Returns the objects that contain a collection: its group, and its parent as a partition. */
function holdersOf(state: State, name: string): string[] {
  const holders = [state.collections.get(name)?.collection.meta.group, parentOf(state, name)];
  return holders.filter((each) => typeof each === 'string');
}

const withSubject = (event: NewEvent, restored: RestoredField | undefined): NewEvent =>
  restored === undefined ? event : { ...event, subject: trashSubject(restored.position) };

/** Marks a collection's event as a restore, if it is one. */
function restoredCollection(
  { options }: Pick<TransitionContext, 'options'>,
  { identities, fields }: CollectionNode,
): { restored?: RestoredCollection } {
  const found = options.restores?.get(identities.collection);
  if (found === undefined) return {};
  const ofFields = [...fields.keys()].map((field) => identities.fields.get(field) as Identity);
  return {
    restored: {
      position: found.position,
      identity: identities.collection,
      name: found.name,
      fields: ofFields,
      ...emptiness(found),
    },
  };
}

/** Marks a field's event as a restore, if it is one. */
function restoredField(
  { options }: Pick<TransitionContext, 'options'>,
  { identities }: CollectionNode,
  field: string,
): { restored?: RestoredField } {
  const identity = identities.fields.get(field) ?? '';
  const found = options.restores?.get(identity);
  return found === undefined ? {} : { restored: { position: found.position, identity, ...emptiness(found) } };
}

const emptiness = ({ empty = false }: Restores): { empty?: boolean } => (empty ? { empty } : {});

/* The order in which the fields of a collection are updated. */

type Fields = ReadonlyMap<string, Field>;

/** Groups come first. A field that releases the name of an index or constraint precedes one that takes it. */
export function* updateOrder(names: readonly string[], before: Fields, after: Fields): Resumable<string[]> {
  const groupOf = (name: string) => after.get(name)?.meta.group;
  const givers = new Map<string, string>();
  for (const name of names) {
    const [old, now] = [before.get(name), after.get(name)];
    if (old === now) continue;
    const kept = partNames(now);
    for (const part of partNames(old)) if (!kept.includes(part)) givers.set(part, name);
    yield;
  }
  if (givers.size === 0) return yield* groupsFirst(names, groupOf);
  const giversTo = (name: string) => partNames(after.get(name)).map((part) => givers.get(part));
  return yield* neededFirst(names, (name) =>
    [groupOf(name), ...giversTo(name)].filter((each) => typeof each === 'string'),
  );
}

function partNames(field: Field | undefined): string[] {
  if (!field?.schema) return [];
  const column = { ...field, schema: field.schema };
  return [
    ...(column.schema.is_indexed ? [indexNameOf(column)] : []),
    ...(column.schema.is_unique ? [uniqueNameOf(column)] : []),
  ];
}

/**
 * Returns the events from `from` to `to`, where only the collections in `touched` differ. Both states must satisfy the
 * invariants. Objects with another name in `to` are renamed. Relations are compared without ids.
 */
export function* transition(
  from: State,
  to: State,
  touched: Iterable<string>,
  options: TransitionOptions = {},
): Resumable<NewEvent[]> {
  const names = [...touched];
  const renames = yield* renamesBetween(from, to, names);
  if (isNone(renames)) return yield* byNames(from, to, names, options);
  const without = withoutInTheWay(from, renames);
  const freed = without.touched.size === 0 ? from : yield* without.toState();
  const removed = yield* byNames(from, freed, without.touched, {});
  const { events, after } = yield* renameEvents(freed, renames);
  const concerning = [...names, ...without.touched, ...collectionsChanged(events)];
  return [...removed, ...events, ...(yield* byNames(after, to, concerning, options))];
}

/** For states without renames. */
function* byNames(
  from: State,
  to: State,
  touched: Iterable<string>,
  options: TransitionOptions,
): Resumable<NewEvent[]> {
  const names = yield* concerned(from, to, touched);
  const surviving = yield* survivingOf(from, to, names);
  const removals = yield* removalsBetween(from, to, names);
  const change: TransitionContext = { from, to, names, surviving, removals, options };
  const { events, held } = yield* detach(change);
  const ordered: NewEvent[] = [];
  const parts = [
    removeRelations(change),
    eachOf(events),
    removeFields(change),
    removeCollections(change),
    createCollections(change),
    createFields(change),
    updateFields(change, held.fields),
    updateCollections(change, held.collections),
    putRelations(change, held.relations),
  ];
  for (const part of parts) yield* addEvents(ordered, part);
  return ordered;
}

/** Returns collections that may differ, and members of groups that are replaced, in order. */
function* concerned(from: State, to: State, touched: Iterable<string>): Resumable<string[]> {
  const names = new Set(touched);
  const replaced = new Set<string>();
  for (const name of names) {
    yield;
    const [before, after] = [from.collections.get(name), to.collections.get(name)];
    if (before !== undefined && after !== undefined && isReplacedCollection(before, after)) replaced.add(name);
  }
  for (const group of replaced) for (const name of groupedIn(from, group)) names.add(name);
  return yield* sortedInSteps(names, byName);
}

function* eachOf(events: readonly NewEvent[]): EventSteps {
  yield* events;
}

function* removeRelations({ from, to, names }: TransitionContext): EventSteps {
  for (const name of yield* partitionsFirst(names, from, (each) => each)) {
    yield;
    const after = to.collections.get(name);
    for (const relation of from.collections.get(name)?.relations.values() ?? []) {
      const next = after?.relations.get(relation.many_field);
      if (next === undefined || isReplacedRelation(relation, next)) {
        yield newEvent('relation.deleted', name, relation.many_field, {});
      }
    }
  }
}

function* removeFields({ removals }: TransitionContext): EventSteps {
  for (const [name, fields] of removals.fields) {
    for (const field of fields) yield newEvent('field.deleted', name, field, {});
  }
}

function* removeCollections({ from, removals }: TransitionContext): EventSteps {
  const owners = yield* sequenceOwners(from, removals.collections);
  const needsOf = (name: string) => [...holdersOf(from, name), ...ownersOf(from, name, owners)];
  for (const name of (yield* neededFirst(removals.collections, needsOf)).reverse()) {
    yield newEvent('collection.deleted', name, null, {});
  }
}

const sequencesOf = (state: State, name: string) =>
  (extrasOf(state.collections.get(name)).needs ?? []).filter((need) => need.kind === 'sequence');

/** Maps sequences to the tables that own them. */
function* sequenceOwners(state: State, names: Iterable<string>): Resumable<ReadonlyMap<string, string>> {
  const owners = new Map<string, string>();
  for (const name of names) {
    yield;
    for (const need of sequencesOf(state, name)) if (need.owned_by !== undefined) owners.set(need.name, name);
  }
  return owners;
}

/** Returns the tables whose sequences another table uses. */
function ownersOf(state: State, name: string, owners: ReadonlyMap<string, string>): string[] {
  const found = sequencesOf(state, name).map((need) => owners.get(need.name));
  return found.filter((owner) => owner !== undefined && owner !== name) as string[];
}

function* updateFields(change: TransitionContext, held: ReadonlyMap<string, Field>): EventSteps {
  for (const { name, before, after } of change.surviving) {
    yield;
    const gone = change.removals.fields.get(name);
    const isHeld = (field: string) => held.has(memberKey(name, field));
    const changed = [...after.fields].flatMap(([field, now]) => {
      const old = before.fields.get(field);
      return old === undefined || gone?.has(field) || (old === now && !isHeld(field)) ? [] : [field];
    });
    for (const each of yield* updateOrder(changed, before.fields, after.fields)) {
      const field = after.fields.get(each) as Field;
      const now = held.get(memberKey(name, each)) ?? before.fields.get(each) ?? field;
      const patch = now === field ? [] : patchBetween(now, field);
      if (patch.length === 0) continue;
      yield newEvent('field.updated', name, field.field, { patch, ...concurrently(change, now, field) });
    }
  }
}

function* updateCollections(change: TransitionContext, held: ReadonlyMap<string, Collection>): EventSteps {
  const pairs = new Map(change.surviving.map((pair) => [pair.name, pair]));
  const groupOf = (name: string) => change.to.collections.get(name)?.collection.meta.group;
  for (const name of yield* groupsFirst(pairs.keys(), groupOf)) {
    yield;
    const { before, after } = pairs.get(name) as Surviving;
    const now = held.get(name) ?? before.collection;
    const patch = now === after.collection ? [] : patchBetween(now, after.collection);
    if (patch.length > 0) yield newEvent('collection.updated', name, null, { patch });
  }
}

function* putRelations({ from, to, names }: TransitionContext, held: ReadonlyMap<string, Relation>): EventSteps {
  const freed = [...held.values()].map((relation) => relation.many_collection);
  const holders = yield* sortedInSteps(new Set([...names, ...freed]), byName);
  for (const name of yield* partitionsFirst(holders, to, (each) => each)) {
    yield;
    const node = to.collections.get(name);
    for (const relation of node === undefined ? [] : relationsInOrder(node)) {
      const old = getRelation(from, name, relation.many_field);
      yield* putRelation(relation, old, held.get(memberKey(name, relation.many_field)) ?? old);
    }
  }
}

/** `now`: the rest of `old` after detaching. */
function* putRelation(relation: Relation, old: Relation | undefined, now: Relation | undefined): EventSteps {
  const { many_collection, many_field } = relation;
  if (old === undefined || now === undefined || isReplacedRelation(old, relation)) {
    yield newEvent('relation.created', many_collection, many_field, { relation: relationBody(relation) });
    return;
  }
  const patch = now === relation ? [] : patchBetween(relationBody(now), relationBody(relation));
  if (patch.length > 0) yield newEvent('relation.updated', many_collection, many_field, { patch });
}
