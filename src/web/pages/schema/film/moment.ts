/** The documents at one position of the log, and stepping to the next or previous one. */
import type { PastDocuments } from '../../../service/film-queries.js';
import type { DocumentChanges, FieldDocument, ListedCollection } from '../../../service/types.js';
import type { ShownRelation } from '../graph/graph.js';
import { fieldKey } from '../graph/mark.js';

export interface Moment {
  position: number;
  collections: ReadonlyMap<string, ListedCollection>;
  /** By collection, then by field; null for a large schema, where they are requested per table. */
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
  const found = new Map<string, Map<string, FieldDocument>>();
  for (const field of fields) {
    const known = found.get(field.collection) ?? new Map<string, FieldDocument>();
    found.set(field.collection, known.set(field.field, field));
  }
  return found;
}

/** Removes before it adds, because a name may pass between objects within a batch. */
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
  known: ReadonlyMap<string, T>,
  changes: readonly Change<T>[],
  { to, keyOf }: { to: Side; keyOf: (document: T) => string },
): ReadonlyMap<string, T> {
  if (changes.length === 0) return known;
  const next = new Map(known);
  for (const { [other(to)]: gone } of changes) if (gone !== null) next.delete(keyOf(gone));
  for (const { [to]: come } of changes) if (come !== null) next.set(keyOf(come), come);
  return next;
}

const other = (side: Side): Side => (side === 'before' ? 'after' : 'before');

function fieldsAfter(
  known: NonNullable<Moment['fields']>,
  changes: readonly Change<FieldDocument>[],
  to: Side,
): NonNullable<Moment['fields']> {
  const next = new Map(known);
  const own = new Map<string, Map<string, FieldDocument>>();
  const of = (name: string): Map<string, FieldDocument> => {
    const copy = own.get(name) ?? new Map(known.get(name));
    own.set(name, copy);
    next.set(name, copy);
    return copy;
  };
  for (const { [other(to)]: gone } of changes) if (gone !== null) of(gone.collection).delete(gone.field);
  for (const { [to]: come } of changes) if (come !== null) of(come.collection).set(come.field, come);
  for (const [name, fields] of own) if (fields.size === 0) next.delete(name);
  return next;
}

/** In list order: by `sort`, then by name. */
export function inOrder(fields: Iterable<FieldDocument>): FieldDocument[] {
  const sortOf = ({ meta }: FieldDocument): number => meta.sort ?? Infinity;
  return [...fields].sort((a, b) => {
    const by = sortOf(a) - sortOf(b);
    return by !== 0 && !Number.isNaN(by) ? by : a.field < b.field ? -1 : 1;
  });
}
