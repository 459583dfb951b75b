/** The identities that the fold gives: to collections and fields of every log, whichever release wrote it. */
import type { NewEvent } from '../model/events.js';
import type { Identities, Identity } from '../model/state.js';

type Creation = Extract<NewEvent, { type: 'collection.created' | 'collection.adopted' }>;

/** Of a collection that an event makes with all its fields: new ones, or those that it had before it was deleted. */
export function identitiesOf({ position, data }: Creation & { position: number }): Identities {
  const restored = 'restored' in data ? data.restored : undefined;
  return {
    collection: restored?.identity ?? String(position),
    fields: new Map(
      data.fields.map(({ field }, index) => [field, restored?.fields[index] ?? `${position}.${index + 1}`]),
    ),
  };
}

/** The names of a node's fields that a fold may change in place: copied when the first of them comes or goes. */
export interface OwnIdentities {
  /** @returns the node's, as a map that is no one else's */
  of(node: { identities: Identities }): Map<string, Identity>;
  /** What was changed in place until now is shared from here on. */
  share(): void;
}

/** For one fold: copies the identities of a node once until they are shared. */
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
