/** The changes of a batch for display: created, changed and removed objects. Removed ones are shown once more. */
import type { FieldDocument, ListedCollection } from '../../../service/types.js';
import { type ShownRelation, targetsOf } from '../graph/graph.js';
import { type Doing, type DrawnMarks, type Mark, fieldKey } from '../graph/mark.js';
import type { Changes, Moment } from './moment.js';

export interface Marks extends DrawnMarks {
  /** The objects that the batch removed. */
  gone: { collections: ListedCollection[]; fields: FieldDocument[]; relations: ShownRelation[] };
  /** New names of renamed objects, which keep their places. */
  renamed: ReadonlyMap<string, string>;
}

export const NO_MARKS: Marks = {
  collections: new Map(),
  fields: new Map(),
  relations: new Map(),
  gone: { collections: [], fields: [], relations: [] },
  renamed: new Map(),
};

interface Change<T> {
  before: T | null;
  after: T | null;
}

const markOf = ({ before, after }: Change<unknown>): Doing =>
  before === null ? 'made' : after === null ? 'removed' : 'changed';

/**
 * Fields of new and removed collections are not marked; a collection with changed fields is marked as changed.
 * @param after the state after the batch
 */
export function marksOf(changes: Changes, after: Moment): Marks {
  const collections = new Map<string, Mark>();
  const set = (name: string, mark: Mark): void => {
    // An object removed and created under one name is a new one, but the name still exists.
    const known = collections.get(name);
    collections.set(name, known === undefined || known === mark ? mark : known === 'changed' ? mark : 'changed');
  };
  for (const change of changes.collections) set((change.after ?? change.before)?.collection ?? '', markOf(change));
  const fields = new Map<string, Mark>();
  for (const change of changes.fields) {
    const field = change.after ?? change.before;
    if (field === null || isWhole(collections.get(field.collection))) continue;
    const key = fieldKey(field);
    fields.set(key, fields.has(key) ? 'changed' : markOf(change));
    collections.set(field.collection, 'changed');
  }
  const relations = new Map(
    changes.relations.map((change) => [fieldKey(change.after ?? change.before ?? NOWHERE), markOf(change)]),
  );
  return {
    collections,
    fields,
    relations,
    gone: goneOf(changes, after),
    renamed: new Map(
      changes.collections.flatMap(({ before, after: now }) =>
        before !== null && now !== null && before.collection !== now.collection
          ? [[before.collection, now.collection] as const]
          : [],
      ),
    ),
  };
}

const NOWHERE = { collection: '', field: '' };
const isWhole = (mark: Mark | undefined): boolean => mark === 'made' || mark === 'removed';

function goneOf(changes: Changes, { collections, fields, relations }: Moment): Marks['gone'] {
  const removed = <T>(all: readonly Change<T>[]): T[] =>
    all.flatMap(({ before, after }) => (before !== null && after === null ? [before] : []));
  return {
    collections: removed(changes.collections).filter(({ collection }) => !collections.has(collection)),
    fields: removed(changes.fields).filter(({ collection, field }) => !fields?.get(collection)?.has(field)),
    relations: removed(changes.relations).filter((relation) => !relations.has(fieldKey(relation))),
  };
}

/** The collections of a batch with their direct neighbours. */
export function aroundChanges({ collections }: Marks, relations: Iterable<ShownRelation>): Set<string> {
  const found = new Set(collections.keys());
  for (const relation of relations) {
    const ends = [relation.collection, ...targetsOf(relation)];
    if (ends.some((end) => collections.has(end))) for (const end of ends) found.add(end);
  }
  return found;
}

/** `2 new, 1 changed`: collections, and fields and relations of existing ones. */
export function countsOf({ collections, fields, relations }: Changes): Record<Doing, number> {
  const counts = { made: 0, changed: 0, removed: 0 };
  const whole = new Set<string>();
  for (const change of collections) {
    const mark = markOf(change);
    counts[mark] += 1;
    if (isWhole(mark)) whole.add(placeOf(change).collection);
  }
  for (const change of [...fields, ...relations]) {
    if (!whole.has(placeOf(change).collection)) counts[markOf(change)] += 1;
  }
  return counts;
}

const placeOf = ({ before, after }: Change<{ collection: string }>): { collection: string } =>
  after ?? before ?? NOWHERE;
