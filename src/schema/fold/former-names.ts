/** What things were called when a batch began, by the names that its later events use. */
import type { LogEvent } from '../model/events.js';
import { memberKey } from '../model/state.js';
import type { Resumable } from '../../kernel/resumable.js';

export interface FormerNames {
  /** To be told of each event after it was looked at. */
  add(event: LogEvent): void;
  collection(name: string): string;
  /** @param collection as it is called now */
  field(collection: string, name: string): string;
}

/** A name that nothing was renamed to is its own former name. */
export function formerNames(): FormerNames {
  const collections = new Map<string, string>();
  /** By the collection's former name and the field's present one. */
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

/** What a collection was called before a batch, by any name that it has in it; none where it had no other. */
export type NamesBefore = (collection: string) => ReadonlySet<string>;

const NONE: ReadonlySet<string> = new Set();

/** For the whole batch: a name may have been several collections' in it. */
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

/** By a rename, or when a collection comes back from the trash under another name. */
function nameGiven(event: LogEvent, former: FormerNames): { from: string; to: string } | undefined {
  if (event.type === 'collection.renamed') return { from: former.collection(event.data.to), to: event.data.to };
  if (event.type !== 'collection.created' || event.data.restored === undefined) return undefined;
  return { from: event.data.restored.name, to: event.collection };
}
