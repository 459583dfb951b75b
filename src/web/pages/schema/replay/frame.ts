/* The documents at one position of the log, and stepping to the next or previous one. */
import type { PastDocuments } from '../../../service/history-queries.js';
import type { DocumentChanges, FieldDocument, ListedCollection } from '../../../service/types.js';
import {
  type ShownRelation,
  targetsOf,
  fieldKey,
  type ChangeKind,
  type DrawnMarks,
  type Mark,
} from '../graph/graph.js';

export interface Moment {
  position: number;
  collections: ReadonlyMap<string, ListedCollection>;
  /** The fields by collection and name. Null for a large schema, in which they are requested per table. */
  fields: ReadonlyMap<string, ReadonlyMap<string, FieldDocument>> | null;
  relations: ReadonlyMap<string, ShownRelation>;
}

type Side = 'before' | 'after';

interface Change<T> {
  before: T | null;
  after: T | null;
}

/** `fields` is null if they were not read. */
export function momentOf(position: number, { collections, fields, relations }: PastDocuments): Moment {
  return {
    position,
    collections: new Map(collections.map((each) => [each.collection, each])),
    fields: fields === undefined ? null : byCollection(fields),
    relations: new Map(relations.map((each) => [fieldKey(each), each])),
  };
}

function byCollection(fields: readonly FieldDocument[]): Map<string, Map<string, FieldDocument>> {
  const fieldsByCollection = new Map<string, Map<string, FieldDocument>>();
  for (const field of fields) {
    const byField = fieldsByCollection.get(field.collection) ?? new Map<string, FieldDocument>();
    fieldsByCollection.set(field.collection, byField.set(field.field, field));
  }
  return fieldsByCollection;
}

/**
 * Steps to the other side of a batch. It removes before it adds, because a name may pass from one object to another
 * within a batch.
 */
export function stepTo(to: Side, { moment, changes, position }: Step): Moment {
  const { collections, fields, relations } = changes as unknown as Changes;
  return {
    position,
    collections: replaced(moment.collections, collections, { to, keyOf: ({ collection }) => collection }),
    fields: moment.fields && fieldsAfter(moment.fields, fields, to),
    relations: replaced(moment.relations, relations, { to, keyOf: fieldKey }),
  };
}

interface Step {
  moment: Moment;
  changes: DocumentChanges;
  /** The position of the target state. */
  position: number;
}

/** The relevant part of the changes. */
export interface Changes {
  collections: Change<ListedCollection>[];
  fields: Change<FieldDocument>[];
  relations: Change<ShownRelation>[];
}

function replaced<T>(
  current: ReadonlyMap<string, T>,
  changes: readonly Change<T>[],
  { to, keyOf }: { to: Side; keyOf: (document: T) => string },
): ReadonlyMap<string, T> {
  if (changes.length === 0) return current;
  const next = new Map(current);
  for (const { [otherSide(to)]: gone } of changes) if (gone !== null) next.delete(keyOf(gone));
  for (const { [to]: entry } of changes) if (entry !== null) next.set(keyOf(entry), entry);
  return next;
}

const otherSide = (side: Side): Side => (side === 'before' ? 'after' : 'before');

function fieldsAfter(
  current: NonNullable<Moment['fields']>,
  changes: readonly Change<FieldDocument>[],
  to: Side,
): NonNullable<Moment['fields']> {
  const next = new Map(current);
  const own = new Map<string, Map<string, FieldDocument>>();
  const of = (name: string): Map<string, FieldDocument> => {
    const copy = own.get(name) ?? new Map(current.get(name));
    own.set(name, copy);
    next.set(name, copy);
    return copy;
  };
  for (const { [otherSide(to)]: gone } of changes) if (gone !== null) of(gone.collection).delete(gone.field);
  for (const { [to]: entry } of changes) if (entry !== null) of(entry.collection).set(entry.field, entry);
  for (const [name, fields] of own) if (fields.size === 0) next.delete(name);
  return next;
}

/** Returns the fields in the order of lists: by `sort`, then by name. */
export function sortFields(fields: Iterable<FieldDocument>): FieldDocument[] {
  const sortOf = ({ meta }: FieldDocument): number => meta.sort ?? Infinity;
  return [...fields].sort((a, b) => {
    const by = sortOf(a) - sortOf(b);
    return by !== 0 && !Number.isNaN(by) ? by : a.field < b.field ? -1 : 1;
  });
}

/* The changes of a batch for display: created, changed and removed objects. Removed ones are shown once more. */

export interface FrameMarks extends DrawnMarks {
  /** The objects that the batch removed. */
  gone: { collections: ListedCollection[]; fields: FieldDocument[]; relations: ShownRelation[] };
  /** New names of renamed objects, which keep their places. */
  renamed: ReadonlyMap<string, string>;
}

export const NO_MARKS: FrameMarks = {
  collections: new Map(),
  fields: new Map(),
  relations: new Map(),
  gone: { collections: [], fields: [], relations: [] },
  renamed: new Map(),
};

interface ChangePair<T> {
  before: T | null;
  after: T | null;
}

const markOf = ({ before, after }: ChangePair<unknown>): ChangeKind =>
  before === null ? 'made' : after === null ? 'removed' : 'changed';

/**
 * Returns the marks of a batch. Fields of new and removed collections have none. A collection with changed fields is
 * marked as changed.
 * @param after the state after the batch
 */
export function marksOf(changes: Changes, after: Moment): FrameMarks {
  const collections = new Map<string, Mark>();
  const set = (name: string, mark: Mark): void => {
    // An object removed and created under one name is a new one, but the name still exists.
    const listed = collections.get(name);
    collections.set(name, listed === undefined || listed === mark ? mark : listed === 'changed' ? mark : 'changed');
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

function goneOf(changes: Changes, { collections, fields, relations }: Moment): FrameMarks['gone'] {
  const removed = <T>(all: readonly ChangePair<T>[]): T[] =>
    all.flatMap(({ before, after }) => (before !== null && after === null ? [before] : []));
  return {
    collections: removed(changes.collections).filter(({ collection }) => !collections.has(collection)),
    fields: removed(changes.fields).filter(({ collection, field }) => !fields?.get(collection)?.has(field)),
    relations: removed(changes.relations).filter((relation) => !relations.has(fieldKey(relation))),
  };
}

/** The collections of a batch with their direct neighbours. */
export function findChangedNeighbours({ collections }: FrameMarks, relations: Iterable<ShownRelation>): Set<string> {
  const names = new Set(collections.keys());
  for (const relation of relations) {
    const ends = [relation.collection, ...targetsOf(relation)];
    if (ends.some((end) => collections.has(end))) for (const end of ends) names.add(end);
  }
  return names;
}

/**
 * Returns counts such as `2 new, 1 changed`. They include collections, and fields and relations of existing
 * collections.
 */
export function countsOf({ collections, fields, relations }: Changes): Record<ChangeKind, number> {
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

const placeOf = ({ before, after }: ChangePair<{ collection: string }>): { collection: string } =>
  after ?? before ?? NOWHERE;
