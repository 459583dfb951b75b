/** Translates names within a batch to the names at its beginning. */
import type { LogEvent, RestoredCollection } from '../model/events.js';
import { type Identity, type State, NEW_IDENTITY, memberKey } from '../model/state.js';

export interface FormerNames {
  /** Must be called with each event, after the caller has processed that event. */
  add(event: LogEvent): void;
  collection(name: string): string;
  /** @param collection the current name of the collection */
  field(collection: string, name: string): string;
  /** True for a collection that the batch created, even if another collection had its name before the batch. */
  isCreated(collection: string): boolean;
}

/** A name that no rename assigned is its own former name. */
export function formerNames(): FormerNames {
  const collections = new Map<string, string>();
  /** Former field names. The key is the former name of the collection with the current name of the field. */
  const fields = new Map<string, string>();
  const collection = (name: string): string => collections.get(name) ?? name;
  /** The number of each collection that the batch created, by current name. */
  const created = new Map<string, number>();
  let count = 0;
  /** The key in `fields`. A number after NUL keeps the fields of created collections apart from all others. */
  const keyOf = (current: string, field: string): string =>
    memberKey(created.has(current) ? `\0${created.get(current)}` : collection(current), field);

  const noteCreated = (event: LogEvent): void => {
    if (event.type === 'collection.created') created.set(event.collection, (count += 1));
    if (event.type !== 'collection.deleted' && event.type !== 'collection.renamed') return;
    const number = created.get(event.collection);
    created.delete(event.collection);
    if (event.type === 'collection.renamed' && number !== undefined) created.set(event.data.to, number);
  };

  return {
    add(event) {
      noteCreated(event);
      if (event.type === 'collection.renamed') {
        const former = collection(event.collection);
        collections.delete(event.collection);
        collections.set(event.data.to, former);
      } else if (event.type === 'field.renamed') {
        const name = event.field ?? '';
        const key = keyOf(event.collection, name);
        const former = fields.get(key) ?? name;
        fields.delete(key);
        fields.set(keyOf(event.collection, event.data.to), former);
      }
    },
    collection,
    field: (of, name) => fields.get(keyOf(of, name)) ?? name,
    isCreated: (name) => created.has(name),
  };
}

/** The names by which the policy evaluates a collection. */
export interface JudgedNames {
  /** The other names of the collection itself. */
  own: ReadonlySet<string>;
  /** All names of the tables whose rows contain those of the collection: a partition, or a table that inherits. */
  above: ReadonlySet<string>;
}

export type NamesBefore = (collection: string) => JudgedNames;

/** A collection of a batch, with all names that it has before or within it. */
export interface NamedCollection {
  identity: Identity;
  names: Set<string>;
}

/**
 * Returns the collections that have the name before or within the batch. Several collections can have it one after
 * another.
 */
export function collectionsNamed(
  before: State,
  events: readonly LogEvent[],
): (name: string) => readonly NamedCollection[] {
  const current = new Map<string, NamedCollection | undefined>();
  const byName = new Map<string, Set<NamedCollection>>();
  const byIdentity = new Map<Identity, NamedCollection>();
  const withIdentity = (identity: Identity): NamedCollection => {
    const collection = byIdentity.get(identity) ?? { identity, names: new Set() };
    if (identity !== NEW_IDENTITY) byIdentity.set(identity, collection);
    return collection;
  };
  const assign = (name: string, collection: NamedCollection): void => {
    collection.names.add(name);
    current.set(name, collection);
    byName.set(name, (byName.get(name) ?? new Set()).add(collection));
  };
  const find = (name: string): NamedCollection | undefined => {
    const node = before.collections.get(name);
    if (!current.has(name) && node !== undefined) assign(name, withIdentity(node.identities.collection));
    return current.get(name);
  };
  for (const event of events) {
    const { ended, assigned, restored } = nameChange(event);
    const collection = ended === undefined ? withIdentity(restored?.identity ?? NEW_IDENTITY) : find(ended);
    if (ended !== undefined) current.set(ended, undefined);
    if (collection === undefined || assigned === undefined) continue;
    assign(assigned, collection);
    if (restored !== undefined) collection.names.add(restored.name);
  }
  return (name) => {
    find(name);
    return [...(byName.get(name) ?? [])];
  };
}

interface NameChange {
  /** The name that a collection no longer has. */
  ended?: string;
  /** The name that a collection has from now on. */
  assigned?: string;
  restored?: RestoredCollection | undefined;
}

function nameChange(event: LogEvent): NameChange {
  switch (event.type) {
    case 'collection.created':
      return { assigned: event.collection, restored: event.data.restored };
    case 'collection.adopted':
      return { assigned: event.collection };
    case 'collection.renamed':
      return { ended: event.collection, assigned: event.data.to };
    case 'collection.deleted':
      return { ended: event.collection };
    default:
      return {};
  }
}
