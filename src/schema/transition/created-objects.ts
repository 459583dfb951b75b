/** Creates new collections and fields, including restored ones. */
import { isIndexed } from '../model/state.js';
import { newEvent, trashSubject } from '../model/events.js';
import type { NewEvent, RestoredCollection, RestoredField } from '../model/events.js';
import type { Field } from '../model/model.js';
import { groupsFirst, neededFirst, parentOf } from '../model/order.js';
import type { CollectionNode, Identity, State } from '../model/state.js';
import { type EventSteps, type Restores, type TransitionContext, concurrently } from './context.js';

/** Creates collections with fields and without relations. Groups and referenced objects come first. */
export function* createCollections({ from, to, names, removals, options }: TransitionContext): EventSteps {
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
export function* createFields(change: TransitionContext): EventSteps {
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
export function holdersOf(state: State, name: string): string[] {
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
