/** Translates names within a batch to the names at its beginning. */
import type { LogEvent } from '../model/events.js';
import { memberKey } from '../model/state.js';
import type { Resumable } from '../../kernel/resumable.js';

export interface FormerNames {
  /** Call it with each event after processing the event. */
  add(event: LogEvent): void;
  collection(name: string): string;
  /** @param collection its current name */
  field(collection: string, name: string): string;
}

/** A name that no rename assigned is its own former name. */
export function formerNames(): FormerNames {
  const collections = new Map<string, string>();
  /** By the collection's former name and the field's current one. */
  const fields = new Map<string, string>();
  const collection = (name: string): string => collections.get(name) ?? name;
  const keyOf = (of: string, name: string): string => memberKey(collection(of), name);

  return {
    add(event) {
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
  };
}

/** Returns the former names of a collection by any name that it has within the batch. Empty if it was not renamed. */
export type NamesBefore = (collection: string) => ReadonlySet<string>;

const NONE: ReadonlySet<string> = new Set();

/** For the whole batch, in which several collections may have had the same name. */
export function* namesBefore(events: readonly LogEvent[]): Resumable<NamesBefore> {
  const former = formerNames();
  const found = new Map<string, Set<string>>();
  for (const event of events) {
    yield;
    former.add(event);
    const pair = nameGiven(event, former);
    if (pair !== undefined) found.set(pair.to, (found.get(pair.to) ?? new Set()).add(pair.from));
  }
  return (collection) => found.get(collection) ?? NONE;
}

/** The rename of an event, including a restore under another name. */
function nameGiven(event: LogEvent, former: FormerNames): { from: string; to: string } | undefined {
  if (event.type === 'collection.renamed') return { from: former.collection(event.data.to), to: event.data.to };
  if (event.type !== 'collection.created' || event.data.restored === undefined) return undefined;
  return { from: event.data.restored.name, to: event.collection };
}
