/**
 * Hashes the plan that an approval refers to. The plan contains everything that the request would execute: each object
 * before and after, the events, and what is purged and acknowledged. It excludes SQL, sizes, times, log positions and
 * relation ids, so the same change has the same hash on every server and day.
 */
import { createHash } from 'node:crypto';
import { canonicalJson, canonicalPieces, createCanonicalWriter } from '../../kernel/canonical.js';
import type { Resumable } from '../../kernel/resumable.js';
import { type SchemaDiff, diffStates } from '../diff/diff.js';
import { type Entry, type NameMember, isRenameEntry, isWhole } from '../diff/entries.js';
import { changesObjects, collectionsChanged } from '../fold/event-schemas.js';
import { type KeptTable, type LogEvent, type ObjectEvent, isConsequence } from '../model/events.js';
import { objectKey } from '../model/objects.js';
import type { SchemaObject } from '../model/object-document.js';
import { fieldsInOrder, relationsInOrder } from '../model/order.js';
import type { Policy } from '../model/policy.js';
import { type CollectionNode, type State, byName } from '../model/state.js';
import { relationBody } from '../transition/context.js';

/** The change that the plan executes, with the states before and after it. */
export interface HashedChange {
  before: State;
  after: State;
  events: readonly LogEvent[];
  /** True to drop deleted objects immediately. */
  purge?: boolean | undefined;
  /** The policy before the change. Present if the events replace it. */
  policy?: Policy | undefined;
  /** Findings that the author acknowledges, in any order. */
  acknowledge?: readonly object[] | undefined;
}

/** An object before and after the change. Null if it does not exist. */
interface Change {
  collection: string;
  field?: string;
  /** The former name of the object. */
  was?: string;
  from: object | null;
  to: object | null;
}

/** The deletion of an object. Deleting a collection also deletes its fields and relations. */
interface Removed extends Change {
  fields: object[];
  relations: object[];
}

/**
 * One event of the plan. Different events can lead to the same documents and still treat rows differently: an object
 * may be deleted and created again, or restored from another trash entry.
 */
interface Step {
  type: LogEvent['type'];
  collection: string | null;
  field: string | null;
  data: object;
  /** The view or materialized view that the event is about. */
  subject?: ObjectEvent['subject'];
}

export interface PlanDocument {
  version: 2;
  collections: (Change | Removed)[];
  fields: Change[];
  relations: Change[];
  /** The existing objects other than tables that the events change or delete. Absent if there are none. */
  objects?: SchemaObject[];
  steps: Step[];
  purge: boolean;
  acknowledge: readonly object[];
  /** The policy that is replaced. */
  policy?: HashedPolicy;
}

type HashedPolicy = Omit<Policy, 'requires_reason'> & Partial<Policy>;

/** sha256 of the canonical plan, in hex. */
export function* planHash(change: HashedChange): Resumable<string> {
  const digest = createHash('sha256');
  const pieces = yield* canonicalPieces(yield* planDocument(change), createCanonicalWriter());
  for (const piece of pieces) {
    digest.update(piece);
    yield;
  }
  return digest.digest('hex');
}

/** Returns the document to hash. Objects are listed by name, in the order of the diff. */
export function* planDocument(change: HashedChange): Resumable<PlanDocument> {
  const { before, after, events, purge = false, acknowledge = [], policy } = change;
  const diff = yield* diffStates(before, after, collectionsChanged(events));
  const sides = { before, after, former: formerNames(diff) };
  // PostgreSQL decides the excluded events during execution.
  const planned = events.filter((event) => !isConsequence(event));
  const objects = objectsBefore(before, planned);
  return {
    version: 2,
    collections: yield* eachOf(diff.collections, (item) => collectionChange(sides, item)),
    fields: yield* eachOf(diff.fields, (item) => fieldChange(sides, item)),
    relations: yield* eachOf(diff.relations, (item) => relationChange(sides, item)),
    ...(objects.length > 0 && { objects }),
    steps: yield* eachOf(planned, stepOf),
    purge,
    acknowledge: [...acknowledge].sort((a, b) => byName(canonicalJson(a), canonicalJson(b))),
    ...(policy && events.some(replacesPolicy) && { policy: toHashedPolicy(policy) }),
  };
}

/** Returns the objects other than tables as they are before the change, by kind and name. */
function objectsBefore({ objects }: State, events: readonly LogEvent[]): SchemaObject[] {
  const keys = new Set(events.flatMap((event) => (changesObjects(event) ? [objectKey(event.subject)] : [])));
  return [...keys].sort(byName).flatMap((key) => objects.get(key)?.object ?? []);
}

const replacesPolicy = ({ type }: LogEvent): boolean => type === 'policy.updated';

/** Omits the member if it is false, so that plans of earlier releases, which do not have it, keep their hash. */
const toHashedPolicy = ({ requires_reason, ...policy }: Policy): HashedPolicy =>
  requires_reason ? { ...policy, requires_reason } : policy;

function* eachOf<I, T>(items: readonly I[], make: (item: I) => T): Resumable<T[]> {
  const made: T[] = [];
  for (const item of items) {
    made.push(make(item));
    yield;
  }
  return made;
}

interface Sides {
  before: State;
  after: State;
  /** Former names of collections by new name. */
  former: ReadonlyMap<string, string>;
}

const formerNames = ({ collections }: SchemaDiff): ReadonlyMap<string, string> =>
  new Map(
    collections.flatMap(({ collection, diff }): [string, string][] => {
      const was = nameBefore(diff, 'collection');
      return was === undefined ? [] : [[collection, was]];
    }),
  );

function nameBefore(diff: readonly Entry<unknown>[], member: NameMember): string | undefined {
  const entry = diff.find((each) => isRenameEntry(each, member));
  return entry !== undefined && 'lhs' in entry ? (entry.lhs as string) : undefined;
}

function collectionChange(sides: Sides, { collection, diff }: SchemaDiff['collections'][number]): Change | Removed {
  const [from, to] = wholeOf(diff) ?? [
    nodeBefore(sides, collection)?.collection ?? null,
    sides.after.collections.get(collection)?.collection ?? null,
  ];
  const was = nameBefore(diff, 'collection');
  const change = { collection, ...(was !== undefined && { was }), from, to };
  if (from === null || to !== null) return change;
  const node = sides.before.collections.get(collection);
  return node === undefined ? change : { ...change, ...contentsOf(node) };
}

const contentsOf = (node: CollectionNode): Pick<Removed, 'fields' | 'relations'> => ({
  fields: [...fieldsInOrder(node)],
  relations: [...relationsInOrder(node)].map(relationBody),
});

function fieldChange(sides: Sides, { collection, field, diff }: SchemaDiff['fields'][number]): Change {
  const was = nameBefore(diff, 'field');
  const [from, to] = wholeOf(diff) ?? [
    nodeBefore(sides, collection)?.fields.get(was ?? field) ?? null,
    sides.after.collections.get(collection)?.fields.get(field) ?? null,
  ];
  return { collection, field, ...(was !== undefined && { was }), from, to };
}

function relationChange(
  { before, after }: Sides,
  { collection, field, diff }: SchemaDiff['relations'][number],
): Change {
  const [from, to] = wholeOf(diff) ?? [
    bodyOf(before.collections.get(collection), field),
    bodyOf(after.collections.get(collection), field),
  ];
  return { collection, field, from, to };
}

function bodyOf(node: CollectionNode | undefined, field: string): object | null {
  const relation = node?.relations.get(field);
  return relation === undefined ? null : relationBody(relation);
}

const nodeBefore = ({ before, former }: Sides, collection: string): CollectionNode | undefined =>
  before.collections.get(former.get(collection) ?? collection);

/** Returns `[before, after]` of a new or deleted object. One of the two is null. Undefined for a changed object. */
function wholeOf([first]: readonly Entry<unknown>[]): [object | null, object | null] | undefined {
  if (first === undefined || !isWhole(first)) return undefined;
  return first.kind === 'N' ? [null, first.rhs as object] : [(first as { lhs: object }).lhs, null];
}

/** The step excludes trash data, which is decided at execution. An approval records it with its findings. */
function stepOf(event: LogEvent): Step {
  const { type, collection, field, data } = event;
  if (type === 'policy.updated') return { type, collection, field, data: { policy: toHashedPolicy(data.policy) } };
  const { kept_until: _, publications: __, foreign_keys: ___, kept_in: ____, ...planned } = data as Partial<KeptTable>;
  return { type, collection, field, data: planned, ...(changesObjects(event) && { subject: event.subject }) };
}
