/**
 * Returns the ordered events between two states. Every command uses this order, in which every prefix is a valid schema:
 *
 * 1. Remove objects whose names others take, and partitions of tables whose columns are renamed.
 * 2. Rename.
 * 3. Remove relations.
 * 4. Detach references to removed objects, and add needs of columns.
 * 5. Remove fields, then collections.
 * 6. Create collections (groups first), then fields.
 * 7. Update fields, then collections, because archive_field and sort_field may name a new field.
 * 8. Create and update relations.
 *
 * Events about objects other than tables enclose these: deletions and renames come first, creations and changes last.
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
  type DetachedDocuments,
  type Phase,
  type SurvivingCollection,
  type TransitionContext,
  type TransitionOptions,
  backfillOption,
  concurrentIndexOption,
  eventsOf,
  phase,
  relationBody,
  findSurviving,
  type Restores,
  isReplacedCollection,
  isReplacedRelation,
  findRemovals,
} from './context.js';
import {
  type NewEvent,
  type SchemaEvent,
  newEvent,
  trashSubject,
  type RestoredCollection,
  type RestoredField,
} from '../model/events.js';
import { withExtras, detachPhases } from './cascade.js';
import { objectTransition } from './objects.js';
import type { Collection, Field, Relation } from '../model/model.js';
import {
  sortGroupsFirst,
  sortNeededFirst,
  needLabel,
  sortPartitionsFirst,
  relationsInOrder,
  parentOf,
} from '../model/order.js';
import { jsonEqual } from '../../kernel/json.js';
import { patchBetween } from '../fold/rename-events.js';
import type { Resumable } from '../../kernel/resumable.js';
import { isNone, renameEvents, renamesBetween, removeBeforeRenames } from './renames.js';
import { collectionsChanged } from '../fold/event-schemas.js';
import { indexNameOf, uniqueNameOf } from '../model/constraint-names.js';

/* Creates new collections and fields, including restored ones. */

/** Creates collections with fields and without relations. Groups and referenced objects come first. */
function createCollections({ from, to, names, removals, options }: TransitionContext): Phase {
  const isGone = (name: string) => !from.collections.has(name) || removals.collections.has(name);
  const created = names.filter((name) => isGone(name) && to.collections.has(name));
  return phase(
    sortNeededFirst(created, (each) => holdersOf(to, each)),
    (name) => {
      const node = to.collections.get(name) as CollectionNode;
      const { collection, fields } = node;
      const { restored } = restoredCollection({ options }, node);
      // When a restored object was deleted, its index may not have been built yet.
      const later = options.concurrentIndexes === true || restored !== undefined;
      const concurrent = later && [...fields.values()].some(isIndexed);
      const event = newEvent('collection.created', name, null, {
        collection,
        fields: [...fields.values()],
        ...(concurrent ? { concurrent_indexes: true } : {}),
        ...(restored && { restored }),
      });
      return [withSubject(event, restored)];
    },
  );
}

/** Creates fields in existing collections. Groups come before their members. */
function createFields(change: TransitionContext): Phase {
  return phase(change.surviving, ({ name, before, after }) => {
    if (before.fields === after.fields) return [];
    const gone = change.removals.fields.get(name);
    const created = [...after.fields.keys()].filter((field) => !before.fields.has(field) || gone?.has(field));
    return sortGroupsFirst(created, (each) => after.fields.get(each)?.meta.group).map((field) => {
      const value = after.fields.get(field) as Field;
      const { restored } = restoredField(change, after, field);
      const event = newEvent('field.created', name, field, {
        field: value,
        ...concurrentIndexOption(change, undefined, value),
        ...backfillOption(change, name, field),
        ...(restored && { restored }),
      });
      return withSubject(event, restored);
    });
  });
}

/** Returns the objects that contain a collection: its group, and its parent as a partition. */
function holdersOf(state: State, name: string): string[] {
  const holders = [state.collections.get(name)?.collection.meta.group, parentOf(state, name)];
  return holders.filter((each) => typeof each === 'string');
}

const withSubject = (event: NewEvent, restored: RestoredField | undefined): NewEvent =>
  restored === undefined ? event : { ...event, subject: trashSubject(restored.position) };

/** Returns the data that marks a collection's event as a restore. Undefined if it is none. */
function restoredCollection(
  { options }: Pick<TransitionContext, 'options'>,
  { identities, fields }: CollectionNode,
): { restored?: RestoredCollection } {
  const restored = options.restores?.get(identities.collection);
  if (restored === undefined) return {};
  const ofFields = [...fields.keys()].map((field) => identities.fields.get(field) as Identity);
  return {
    restored: {
      position: restored.position,
      identity: identities.collection,
      name: restored.name,
      fields: ofFields,
      ...(restored.kept_in !== undefined && { kept_in: restored.kept_in }),
      ...emptiness(restored),
    },
  };
}

/** Returns the data that marks a field's event as a restore. Undefined if it is none. */
function restoredField(
  { options }: Pick<TransitionContext, 'options'>,
  { identities }: CollectionNode,
  field: string,
): { restored?: RestoredField } {
  const identity = identities.fields.get(field) ?? '';
  const restored = options.restores?.get(identity);
  return restored === undefined ? {} : { restored: { position: restored.position, identity, ...emptiness(restored) } };
}

const emptiness = ({ empty = false }: Restores): { empty?: boolean } => (empty ? { empty } : {});

/* The order in which the fields of a collection are updated. */

type Fields = ReadonlyMap<string, Field>;

/**
 * Returns the order of updates. Groups come first. A field that releases the name of an index or constraint precedes a
 * field that takes the name.
 */
export function updateOrder(names: readonly string[], before: Fields, after: Fields): string[] {
  const groupOf = (name: string) => after.get(name)?.meta.group;
  const givers = new Map<string, string>();
  for (const name of names) {
    const [old, now] = [before.get(name), after.get(name)];
    if (old === now) continue;
    const kept = partNames(now);
    for (const part of partNames(old)) if (!kept.includes(part)) givers.set(part, name);
  }
  if (givers.size === 0) return sortGroupsFirst(names, groupOf);
  const giversTo = (name: string) => partNames(after.get(name)).map((part) => givers.get(part));
  return sortNeededFirst(names, (name) =>
    [groupOf(name), ...giversTo(name)].filter((each) => typeof each === 'string'),
  );
}

/**
 * Returns the names of a field's index and constraint. Only names of one table are compared, so any table name can be
 * used.
 */
function partNames(field: Field | undefined): string[] {
  if (!field?.schema) return [];
  const { schema, collection } = field;
  const column = { field: field.field, schema };
  return [
    ...(column.schema.is_indexed ? [indexNameOf(collection, column)] : []),
    ...(column.schema.is_unique ? [uniqueNameOf(collection, column)] : []),
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
): Resumable<SchemaEvent[]> {
  const { first, last } = objectTransition(from, to);
  return [...first, ...(yield* collectionTransition(from, to, touched, options)), ...last];
}

function* collectionTransition(
  from: State,
  to: State,
  touched: Iterable<string>,
  options: TransitionOptions,
): Resumable<NewEvent[]> {
  const names = [...touched];
  const renames = renamesBetween(from, to, names);
  yield;
  if (isNone(renames)) return yield* byNames(from, to, names, options);
  const without = removeBeforeRenames(from, to, renames);
  const freed = without.touched.size === 0 ? from : without.toState();
  const removed = yield* byNames(from, freed, without.touched, {});
  const { events, after } = yield* renameEvents(freed, renames);
  const concerning = [...names, ...without.touched, ...collectionsChanged(events)];
  return [...removed, ...events, ...(yield* byNames(after, to, concerning, options))];
}

/** Returns the events between two states without renames. */
function* byNames(
  from: State,
  to: State,
  touched: Iterable<string>,
  options: TransitionOptions,
): Resumable<NewEvent[]> {
  const names = affectedCollections(from, to, touched);
  yield;
  const surviving = findSurviving(from, to, names);
  const removals = findRemovals(from, to, names);
  yield;
  const change: TransitionContext = { from, to, names, surviving, removals, options };
  const held: DetachedDocuments = { collections: new Map(), fields: new Map(), relations: new Map() };
  const detached = yield* eventsOf(detachPhases(change, held));
  return yield* eventsOf([
    () => removeRelations(change),
    () => [detached],
    () => removeFields(change),
    () => removeCollections(change),
    () => createCollections(change),
    () => createFields(change),
    () => updateFields(change, held.fields),
    () => updateCollections(change, held.collections),
    () => indexPartitioned(change, held.collections),
    () => putRelations(change, held.relations),
  ]);
}

/** Returns in order the collections that may differ, and the members of groups that are replaced. */
function affectedCollections(from: State, to: State, touched: Iterable<string>): string[] {
  const names = new Set(touched);
  const replaced = new Set<string>();
  for (const name of names) {
    const [before, after] = [from.collections.get(name), to.collections.get(name)];
    if (before !== undefined && after !== undefined && isReplacedCollection(before, after)) replaced.add(name);
  }
  for (const group of replaced) for (const name of groupedIn(from, group)) names.add(name);
  return [...names].sort(byName);
}

function removeRelations({ from, to, names }: TransitionContext): Phase {
  const inOrder = sortPartitionsFirst(names, from, (each) => each);
  return phase(inOrder, (name) => {
    const after = to.collections.get(name);
    const gone = [...(from.collections.get(name)?.relations.values() ?? [])].filter((relation) => {
      const next = after?.relations.get(relation.many_field);
      return next === undefined || isReplacedRelation(relation, next);
    });
    return gone.map(({ many_field }) => newEvent('relation.deleted', name, many_field, {}));
  });
}

const removeFields = ({ removals }: TransitionContext): Phase =>
  phase([...removals.fields], ([name, fields]) =>
    [...fields].map((field) => newEvent('field.deleted', name, field, {})),
  );

function removeCollections({ from, removals }: TransitionContext): Phase {
  const owners = sequenceOwners(from, removals.collections);
  const needsOf = (name: string) => [...holdersOf(from, name), ...ownersOf(from, name, owners)];
  const inOrder = sortNeededFirst(removals.collections, needsOf).reverse();
  return phase(inOrder, (name) => [newEvent('collection.deleted', name, null, {})]);
}

const sequencesOf = (state: State, name: string) =>
  (extrasOf(state.collections.get(name)).needs ?? []).filter((need) => need.kind === 'sequence');

/** Maps each sequence to the table that owns it. */
function sequenceOwners(state: State, names: Iterable<string>): ReadonlyMap<string, string> {
  const owners = new Map<string, string>();
  for (const name of names) {
    for (const need of sequencesOf(state, name)) if (need.owned_by !== undefined) owners.set(needLabel(need), name);
  }
  return owners;
}

/** Returns the tables whose sequences another table uses. */
function ownersOf(state: State, name: string, owners: ReadonlyMap<string, string>): string[] {
  const tables = sequencesOf(state, name).map((need) => owners.get(needLabel(need)));
  return tables.filter((owner) => owner !== undefined && owner !== name) as string[];
}

/** Updates fields. A collection can have thousands of fields, so each of them is an item. */
function* updateFields(change: TransitionContext, held: ReadonlyMap<string, Field>): Phase {
  for (const { name, before, after } of change.surviving) {
    const gone = change.removals.fields.get(name);
    const isHeld = (field: string) => held.has(memberKey(name, field));
    const changed = [...after.fields].flatMap(([field, now]) => {
      const old = before.fields.get(field);
      return old === undefined || gone?.has(field) || (old === now && !isHeld(field)) ? [] : [field];
    });
    for (const each of updateOrder(changed, before.fields, after.fields)) {
      const field = after.fields.get(each) as Field;
      const now = held.get(memberKey(name, each)) ?? before.fields.get(each) ?? field;
      const patch = now === field ? [] : patchBetween(now, field);
      if (patch.length === 0) continue;
      const index = concurrentIndexOption(change, now, field);
      yield [newEvent('field.updated', name, each, { patch, ...index, ...backfillOption(change, name, each) })];
    }
    yield [];
  }
}

function updateCollections(change: TransitionContext, held: Map<string, Collection>): Phase {
  const pairs = new Map(change.surviving.map((pair) => [pair.name, pair]));
  const inOrder = sortGroupsFirst(pairs.keys(), (name) => change.to.collections.get(name)?.collection.meta.group);
  return phase(inOrder, (name) => {
    const { before, after } = pairs.get(name) as SurvivingCollection;
    const now = held.get(name) ?? before.collection;
    const next = withIndexesOf(after.collection, now);
    held.set(name, next);
    return collectionUpdated(now, next);
  });
}

/**
 * Adds the new indexes of partitioned tables, after those of their partitions. PostgreSQL then attaches them, and creates
 * no others.
 */
function indexPartitioned({ to }: TransitionContext, held: ReadonlyMap<string, Collection>): Phase {
  const waiting = [...held.keys()].filter((name) => extrasOf(to.collections.get(name)).partition_by !== undefined);
  return phase(
    sortPartitionsFirst(waiting, to, (name) => name),
    (name) => {
      const [now, after] = [held.get(name), to.collections.get(name)?.collection];
      return now === undefined || after === undefined ? [] : collectionUpdated(now, after);
    },
  );
}

/** Returns a partitioned table with the indexes that it has now. Returns any other collection unchanged. */
function withIndexesOf(collection: Collection, now: Collection): Collection {
  const { indexes: added, ...extras } = extrasOf({ collection });
  const { indexes = [] } = extrasOf({ collection: now });
  if (collection.schema === null || extras.partition_by === undefined || jsonEqual(added, indexes)) return collection;
  return { ...collection, schema: withExtras(collection.schema, { ...extras, indexes }) };
}

function collectionUpdated(now: Collection, after: Collection): NewEvent[] {
  const patch = now === after ? [] : patchBetween(now, after);
  return patch.length > 0 ? [newEvent('collection.updated', after.collection, null, { patch })] : [];
}

function putRelations({ from, to, names }: TransitionContext, held: ReadonlyMap<string, Relation>): Phase {
  const freed = [...held.values()].map((relation) => relation.many_collection);
  const holders = [...new Set([...names, ...freed])].sort(byName);
  const inOrder = sortPartitionsFirst(holders, to, (each) => each);
  return phase(inOrder, (name) => {
    const node = to.collections.get(name);
    return (node === undefined ? [] : relationsInOrder(node)).flatMap((relation) => {
      const old = getRelation(from, name, relation.many_field);
      return putRelation(relation, old, held.get(memberKey(name, relation.many_field)) ?? old);
    });
  });
}

/** Returns the event that creates or updates a relation. `now` is what remains of `old` after detaching. */
function putRelation(relation: Relation, old: Relation | undefined, now: Relation | undefined): NewEvent[] {
  const { many_collection, many_field } = relation;
  if (old === undefined || now === undefined || isReplacedRelation(old, relation))
    return [newEvent('relation.created', many_collection, many_field, { relation: relationBody(relation) })];
  const patch = now === relation ? [] : patchBetween(relationBody(now), relationBody(relation));
  return patch.length > 0 ? [newEvent('relation.updated', many_collection, many_field, { patch })] : [];
}
