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
import { memberKey, extrasOf, type State, byName, getRelation, groupedIn } from '../model/state.js';
import {
  type EventSteps,
  type Surviving,
  type TransitionContext,
  type TransitionOptions,
  concurrently,
  addEvents,
  relationBody,
  survivingOf,
} from './context.js';
import { sortedInSteps } from '../../kernel/sorted.js';
import { type NewEvent, newEvent } from '../model/events.js';
import { createCollections, createFields, holdersOf } from './created-objects.js';
import { detach } from './detach.js';
import type { Collection, Field, Relation } from '../model/model.js';
import { groupsFirst, neededFirst, partitionsFirst, relationsInOrder } from '../model/order.js';
import { patchBetween } from '../fold/patch.js';
import { isReplacedCollection, isReplacedRelation, removalsBetween } from './removed-objects.js';
import type { Resumable } from '../../kernel/resumable.js';
import { isNone, renameEvents, renamesBetween, withoutInTheWay } from './renames.js';
import { updateOrder } from './update-order.js';
import { collectionsChanged } from '../fold/event-schemas.js';

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
