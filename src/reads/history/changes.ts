/*
 * Returns the changes of batches as whole documents. A client that has the documents at one position can move to the
 * next or previous one without another request.
 */
import { runYielding, createTimeSlice } from '../../kernel/event-loop.js';
import { type Point, foldPage } from '../../log/fold.js';
import { readEventPages, type EventText, selectEventTexts } from '../../log/read.js';
import type { Queryable } from '../../postgres/pool.js';
import { collectionsChanged, collectionsTouchedBy } from '../../schema/fold/event-schemas.js';
import {
  type State,
  type CollectionNode,
  type Identity,
  memberKey,
  relationsTo,
  initialState,
} from '../../schema/model/state.js';
import { type Batch, type BatchSelection, readBatches } from './batches.js';
import type { TimeTravel } from './time-travel.js';
import type { Resumable } from '../../kernel/resumable.js';
import type { Relation } from '../../schema/model/model.js';
import {
  type CollectionDocument,
  type FieldDocument,
  type RelationDocument,
  keyTarget,
  relationDocument,
  collectionDocumentOf,
  fieldDocumentOf,
} from '../../schema/snapshot/documents.js';
import { type SchemaDiff, diffStates } from '../../schema/diff/diff.js';
import { evolve } from '../../schema/fold/evolve.js';
import { type SchemaChange, applyRenameWithin } from '../../schema/fold/rename-events.js';
import { readEvent, type RawEvent } from '../../schema/fold/upcasting.js';
import { type ObjectLifetime, readLifetimes, readObjectLifetimes, spansIn, withinSpans } from '../../log/lifetimes.js';
import { isRename } from '../../schema/model/events.js';

/* Pairs the documents of two states by identity, so that a rename appears as a change. */

interface DocumentChange<T> {
  /** Null if the document is created. */
  before: T | null;
  /** Null if the document is deleted. */
  after: T | null;
}

export interface DocumentChanges {
  collections: DocumentChange<CollectionDocument>[];
  fields: DocumentChange<FieldDocument>[];
  relations: DocumentChange<RelationDocument>[];
}

const countOf = ({ collections, fields, relations }: DocumentChanges): number =>
  collections.length + fields.length + relations.length;

/** A node and the state that contains it. */
interface Side {
  state: State;
  node: CollectionNode;
}

/** @param touched collections that events name. Relations that reference them are compared as well. */
export function* changedDocuments(from: State, to: State, touched: ReadonlySet<string>): Resumable<DocumentChanges> {
  const names = new Set(touched);
  for (const name of touched) {
    for (const state of [from, to]) for (const { many_collection: many } of relationsTo(state, name)) names.add(many);
    yield;
  }
  const sides = new Map<Identity, { before?: Side; after?: Side }>();
  const add = (name: string, state: State, which: 'before' | 'after'): void => {
    const node = state.collections.get(name);
    if (node === undefined) return;
    const { collection } = node.identities;
    sides.set(collection, { ...sides.get(collection), [which]: { state, node } });
  };
  for (const name of names) {
    add(name, from, 'before');
    add(name, to, 'after');
    yield;
  }
  const changes: DocumentChanges = { collections: [], fields: [], relations: [] };
  for (const { before, after } of sides.values()) yield* compare(before, after, changes);
  return changes;
}

function* compare(before: Side | undefined, after: Side | undefined, into: DocumentChanges): Resumable<void> {
  if (before?.node.collection !== after?.node.collection) {
    into.collections.push({ before: collectionOf(before), after: collectionOf(after) });
  }
  yield;
  for (const pair of pairs(fieldsOf(before), fieldsOf(after))) {
    yield;
    if (isSame(pair, before, after)) continue;
    into.fields.push({ before: fieldIn(before, pair.old), after: fieldIn(after, pair.now) });
  }
  for (const pair of pairs(relationsOf(before), relationsOf(after))) {
    yield;
    if (isSame(pair, before, after)) continue;
    into.relations.push({ before: relationIn(before, pair.old), after: relationIn(after, pair.now) });
  }
}

/** An object together with its node. Other nodes refer to the object by its name. */
interface Named<T> {
  name: string;
  value: T;
}

interface Pair<T> {
  old: Named<T> | undefined;
  now: Named<T> | undefined;
}

function pairs<T>(before: ReadonlyMap<Identity, Named<T>>, after: ReadonlyMap<Identity, Named<T>>): Pair<T>[] {
  const removed = [...before].filter(([identity]) => !after.has(identity));
  return [
    ...removed.map(([, old]) => ({ old, now: undefined })),
    ...[...after].map(([identity, now]) => ({ old: before.get(identity), now })),
  ];
}

/** Documents show the target of a foreign key. They can therefore change although the field itself does not. */
const isSame = <T>({ old, now }: Pair<T>, before: Side | undefined, after: Side | undefined): boolean =>
  old?.value === now?.value && targetOf(before, old) === targetOf(after, now);

function targetOf(side: Side | undefined, object: Named<unknown> | undefined): string {
  if (side === undefined || object === undefined) return '';
  const target = keyTarget(side.state, side.node, object.name);
  return target === null ? '' : memberKey(target.table, target.column ?? '');
}

const fieldsOf = (side: Side | undefined) =>
  new Map(
    [...(side?.node.fields ?? [])].map(([name, value]) => [
      side?.node.identities.fields.get(name) ?? name,
      { name, value },
    ]),
  );

/** Returns relations by identity, which is the event that created the relation. */
const relationsOf = (side: Side | undefined): Map<Identity, Named<Relation>> =>
  new Map([...(side?.node.relations ?? [])].map(([name, value]) => [String(value.id), { name, value }]));

const collectionOf = (side: Side | undefined): CollectionDocument | null =>
  side === undefined ? null : collectionDocumentOf(side.state, side.node);

function fieldIn(side: Side | undefined, named: Named<unknown> | undefined): FieldDocument | null {
  const field = named && side?.node.fields.get(named.name);
  return side === undefined || field === undefined ? null : fieldDocumentOf(side.state, side.node, field);
}

function relationIn(side: Side | undefined, relation: Named<Relation> | undefined): RelationDocument | null {
  if (side === undefined || relation === undefined) return null;
  return relationDocument(relation.value, keyTarget(side.state, side.node, relation.name));
}

export interface ChangedBatch extends Batch {
  /** Null if there are too many documents to list. */
  changes: DocumentChanges | null;
}

export interface ChangedBatches {
  /** The batches in the requested order. There are fewer than the limit if they contain many documents. */
  batches: ChangedBatch[];
  /** True if there are more batches in this direction. */
  more: boolean;
}

/** Maximum number of documents per answer. A batch may contain that many, and is then returned alone. */
const MOST_DOCUMENTS = 2_000;

/** Maximum number of collections compared per batch. Larger batches nearly always exceed `MOST_DOCUMENTS`. */
const MOST_TOUCHED = 1_000;

/** Reads consecutive batches. The filter only determines the first one. */
export async function readChanges(
  db: Queryable,
  travel: TimeTravel,
  selection: BatchSelection,
): Promise<ChangedBatches> {
  const { limit, order } = selection;
  const pageOfBatches = await readBatches(db, { ...selection, limit: limit + 1 });
  const page = pageOfBatches.slice(0, limit);
  const shown = createShown(order);
  await follow({ db, travel, batches: order === 'asc' ? page : page.toReversed() }, shown);
  const batches = order === 'asc' ? [...shown.batches] : shown.batches.toReversed();
  return { batches, more: pageOfBatches.length > batches.length };
}

interface FollowedBatches {
  db: Queryable;
  travel: TimeTravel;
  /** Consecutive, in order of position. */
  batches: readonly Batch[];
}

async function follow({ db, travel, batches }: FollowedBatches, shown: ChangesPage): Promise<void> {
  const [first] = batches;
  const last = batches.at(-1);
  if (first === undefined || last === undefined) return;
  const following = createComparison(batches, shown);
  let point = await travel.at(first.first_position - 1);
  following.begin(point.state);
  for await (const events of readEventPages(db, { after: point.head.position, upTo: last.last_position })) {
    for (let at = 0; at < events.length;) {
      const { last_position: end } = following.batch();
      const within = events.slice(at, at + end - point.head.position);
      point = await runYielding(foldPage(point, within));
      at += within.length;
      following.touch(collectionsChanged(within));
      if (point.head.position === end && !(await following.end(point))) return;
    }
  }
}

/** Compares the states before and after each batch, in the collections it touched. */
function createComparison(batches: readonly Batch[], shown: ChangesPage) {
  let done = 0;
  const touched = new Set<string>();
  let before: State;
  const batch = (): Batch => {
    const next = batches[done];
    if (next === undefined) throw new Error('events behind the last batch');
    return next;
  };
  return {
    batch,
    begin: (state: State) => void (before = state),
    touch(names: Iterable<string>): void {
      for (const name of names) touched.add(name);
    },
    /** @returns true if the next batch should be compared */
    async end({ state }: Point): Promise<boolean> {
      const isTooMuch = touched.size > MOST_TOUCHED;
      const changes = isTooMuch ? null : await runYielding(changedDocuments(before, state, touched));
      const isTooMany = changes !== null && countOf(changes) > MOST_DOCUMENTS;
      const goesOn = shown.add({ ...batch(), changes: isTooMany ? null : changes });
      done += 1;
      touched.clear();
      before = state;
      return goesOn;
    },
  };
}

interface ChangesPage {
  /** Ordered by position. */
  readonly batches: readonly ChangedBatch[];
  /** @returns true if another batch may fit */
  add(batch: ChangedBatch): boolean;
}

/**
 * Collects batches with at most `MOST_DOCUMENTS` documents in total. Batches are added in order of position. For `asc`
 * it keeps the first ones, for `desc` the last ones. A single batch never exceeds the limit, so at least one is
 * returned.
 */
export function createShown(order: BatchSelection['order']): ChangesPage {
  const batches: ChangedBatch[] = [];
  let documents = 0;
  const isOver = (): boolean => documents > MOST_DOCUMENTS;
  const without = (batch: ChangedBatch | undefined): void => void (documents -= documentsOf(batch));
  return {
    batches,
    add(batch) {
      batches.push(batch);
      documents += documentsOf(batch);
      if (order === 'asc' && isOver()) {
        without(batches.pop());
        return false;
      }
      while (isOver()) without(batches.shift());
      return true;
    },
  };
}

const documentsOf = (batch: ChangedBatch | undefined): number => (batch?.changes ? countOf(batch.changes) : 0);

/* The history of one collection under all its names: its events, each with the resulting diff. */

export interface CollectionEvent extends EventText {
  /** The change of the event as a diff. */
  diff: SchemaDiff;
}

export interface CollectionHistory {
  /** Ordered by position. */
  events: CollectionEvent[];
  /** The lives of all collections that ever had the name. */
  lives: ObjectLifetime[];
}

export interface CollectionHistoryOptions {
  collection: string;
  /** Exclusive. */
  after: number;
  limit: number;
}

/**
 * Reads the history of one collection. Only events of the collection and renames of objects that it references can
 * change it, so only those are read.
 * @returns undefined if no collection ever had the name
 */
export async function readCollectionHistory(
  db: Queryable,
  travel: TimeTravel,
  options: CollectionHistoryOptions,
): Promise<CollectionHistory | undefined> {
  const { collection, after, limit } = options;
  const lives = await readLifetimes(db, collection);
  if (lives.length === 0) return undefined;
  const values: unknown[] = [after];
  const where = `e.position > $1 AND ${withinSpans(lives.flatMap(spansIn), values)}`;
  const texts = await selectEventTexts(db, { where, values, order: 'asc', limit });
  const [first] = texts;
  if (first === undefined) return { events: [], lives };
  const names = new Set(lives.flatMap(({ names }) => names.map(({ name }) => name)));
  let state = after === 0 ? initialState() : (await travel.collectionsAt(names, first.position - 1)).state;
  const events: CollectionEvent[] = [];
  const slice = createTimeSlice();
  for (const event of texts) {
    // One event may contain a collection with thousands of fields.
    if (slice.isOver()) await slice.yield();
    const placed = readEvent(JSON.parse(event.text) as RawEvent) as SchemaChange;
    const before = state;
    state = evolveWithin(before, placed);
    events.push({ ...event, diff: await runYielding(diffStates(before, state, collectionsTouchedBy(placed)), slice) });
  }
  return { events, lives };
}

export interface ObjectHistoryOptions extends Omit<CollectionHistoryOptions, 'collection'> {
  object: { kind: string; id: string };
}

/** Number of events of an object that are in memory at once. A definition may have megabytes. */
const OBJECT_EVENTS = 50;

/**
 * Reads the history of a view, a function or another object. It is folded from its own events, which are few.
 * @returns undefined if no object ever had the id
 */
export async function readObjectHistory(
  db: Queryable,
  { object, after, limit }: ObjectHistoryOptions,
): Promise<CollectionHistory | undefined> {
  const lives = await readObjectLifetimes(db, object);
  if (lives.length === 0) return undefined;
  const events: CollectionEvent[] = [];
  const slice = createTimeSlice();
  let state = initialState();
  for (let last: number | undefined = 0; last !== undefined;) {
    const values: unknown[] = [last, object.kind];
    const spans = lives.flatMap(spansIn).map(({ collection: id, from, to }) => {
      const [at, first, end] = [values.push(id), values.push(from), values.push(to)];
      return `(e.subject ->> 'id'::text = $${at} AND e.position BETWEEN $${first} AND coalesce($${end}, ${Number.MAX_SAFE_INTEGER}))`;
    });
    const where = `e.position > $1 AND e.subject IS NOT NULL AND e.subject ->> 'kind'::text = $2 AND (${spans.join(' OR ')})`;
    const texts: EventText[] = await selectEventTexts(db, { where, values, order: 'asc', limit: OBJECT_EVENTS });
    for (const event of texts) {
      if (slice.isOver()) await slice.yield();
      const before = state;
      state = evolve(before, readEvent(JSON.parse(event.text) as RawEvent));
      if (event.position <= after) continue;
      events.push({ ...event, diff: await runYielding(diffStates(before, state, new Set()), slice) });
      if (events.length === limit) return { events, lives };
    }
    last = texts.length < OBJECT_EVENTS ? undefined : texts.at(-1)?.position;
  }
  return { events, lives };
}

/** Applies the event to a partial state. The event may change objects that the partial state does not contain. */
const evolveWithin = (state: State, event: SchemaChange): State =>
  isRename(event) ? applyRenameWithin(state, event) : evolve(state, event);
