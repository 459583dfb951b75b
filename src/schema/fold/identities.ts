/** Identities that the fold assigns to collections and fields, equal for the logs of all releases. */
import type { NewEvent } from '../model/events.js';
import type { Identities, Identity } from '../model/state.js';

type Creation = Extract<NewEvent, { type: 'collection.created' | 'collection.adopted' }>;

/** Identities of a collection and the fields it is created with: new ones, or those from before its deletion. */
export function identitiesOf({ position, data }: Creation & { position: number }): Identities {
  const restored = 'restored' in data ? data.restored : undefined;
  return {
    collection: restored?.identity ?? String(position),
    fields: new Map(
      data.fields.map(({ field }, index) => [field, restored?.fields[index] ?? `${position}.${index + 1}`]),
    ),
  };
}

/** Identities of a node's fields that a fold may change in place. They are copied at the first change. */
export interface OwnIdentities {
  /** @returns the node's identities as a map that nothing else uses */
  of(node: { identities: Identities }): Map<string, Identity>;
  /** Marks the changed maps as shared. */
  share(): void;
}

/** For one fold: copies the identities of a node once, until they are shared. */
export function ownIdentities(): OwnIdentities {
  let own = new WeakSet<ReadonlyMap<string, Identity>>();
  return {
    of(node) {
      const { collection, fields } = node.identities;
      if (own.has(fields)) return fields as Map<string, Identity>;
      const copy = new Map(fields);
      own.add(copy);
      node.identities = { collection, fields: copy };
      return copy;
    },
    share() {
      own = new WeakSet();
    },
  };
}
