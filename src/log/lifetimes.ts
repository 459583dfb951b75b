/**
 * Finds the lives of collections and fields. A life lasts from the event that creates the object to the event that
 * deletes it, under all of its names. A restored object continues its life. While it is in the trash, it has no name.
 */
import type { Queryable } from '../postgres/pool.js';
import { own } from '../postgres/own-tables.js';
import type { Identity } from '../schema/model/state.js';

export interface ObjectLifetime {
  identity: Identity;
  /** Ordered by position. */
  names: LifeName[];
}

interface LifeName {
  name: string;
  /** Position and time of the event that assigned this name. */
  from: number;
  since: string;
  /** Position of the rename or deletion that ended this name. Null for the current name. */
  to: number | null;
  until: string | null;
}

/** A range of positions in which a collection or one of its fields had one name. */
export interface NameSpan {
  collection: string;
  /** Null for the collection itself. */
  field: string | null;
  /** Positions of the first and last event. `to` is null for the current name. */
  from: number;
  to: number | null;
}

interface FieldLife {
  /** The life of the collection. */
  of: ObjectLifetime;
  /** Ordered by position. */
  spans: NameSpan[];
}

interface Row {
  position: number;
  type: `collection.${'created' | 'adopted' | 'deleted' | 'renamed'}` | `field.${'created' | 'deleted' | 'renamed'}`;
  collection: string;
  field: string | null;
  to: string | null;
  /** Names of the fields of a new collection. Null if no fields are requested. */
  fields: string[] | null;
  /** Set by a restore. A restored collection has a name and fields, a restored field has neither. */
  restored: { identity: Identity; name: string; fields: Identity[] } | null;
  occurred_at: Date;
}

const COLUMNS = `position, type, collection, field, data ->> 'to'::text AS "to", data -> 'restored'::text AS restored, occurred_at`;

/**
 * Selects renames, and restores under a new name. A log contains few of them. The conditions on the type make the
 * planner use partial indexes.
 */
const NAME_CHANGES = `SELECT ${COLUMNS} FROM ${own.events} WHERE type = 'collection.renamed' AND type IN ('collection.renamed', 'field.renamed')
 UNION ALL
SELECT ${COLUMNS} FROM ${own.events}
 WHERE subject IS NOT NULL AND subject ->> 'kind'::text = 'trash' AND type = 'collection.created' AND data #>> '{restored,name}'::text[] <> collection
 ORDER BY position`;

const ENDS = `SELECT ${COLUMNS} FROM ${own.events}
 WHERE type IN ('collection.created', 'collection.adopted', 'collection.deleted') AND collection = ANY ($1)
 ORDER BY position`;

/** Selects events of collections and fields. The types match the condition of the partial index. */
const ENDS_AND_FIELDS = `SELECT ${COLUMNS},
       CASE WHEN type IN ('collection.created', 'collection.adopted')
            THEN pg_catalog.jsonb_path_query_array(data, '$.fields[*].field') END AS fields
  FROM ${own.events}
 WHERE type IN ('collection.created', 'collection.adopted', 'collection.deleted', 'field.created', 'field.deleted', 'field.renamed')
   AND collection = ANY ($1)
 ORDER BY position`;

/** Columns of events of objects other than tables, with their ids as names. */
const OBJECT_COLUMNS = `position, pg_catalog.replace(type, 'object.', 'collection.') AS type, subject ->> 'id'::text AS collection, NULL AS field, data ->> 'to'::text AS "to", NULL AS restored, occurred_at`;
const OF_KIND = `subject IS NOT NULL AND subject ->> 'kind'::text = $1`;
const OBJECT_RENAMES = `SELECT ${OBJECT_COLUMNS} FROM ${own.events} WHERE ${OF_KIND} AND type = 'object.renamed' ORDER BY position`;
const OBJECT_ENDS = `SELECT ${OBJECT_COLUMNS} FROM ${own.events}
 WHERE ${OF_KIND} AND subject ->> 'id'::text = ANY ($2) AND type IN ('object.created', 'object.deleted') ORDER BY position`;

/** Returns every life in which a collection had the name, in the order of creation. */
export async function readLifetimes(db: Queryable, name: string): Promise<ObjectLifetime[]> {
  const changes = await readNameChanges(db);
  const { lives } = await readLives(db, findConnected([name], changes.links), changes);
  return [...lives.values()].filter(({ names }) => names.some((each) => each.name === name));
}

/**
 * Returns every life in which a view, a function or another object of the kind had the id, in the order of creation. No
 * event restores such an object, so a deletion always ends its life.
 */
export async function readObjectLifetimes(
  db: Queryable,
  { kind, id }: { kind: string; id: string },
): Promise<ObjectLifetime[]> {
  const { rows: renames } = await db.query<Row>(OBJECT_RENAMES, [kind]);
  const ids = findConnected([id], renames.map(linkOf));
  const { rows } = await db.query<Row>(OBJECT_ENDS, [kind, [...ids]]);
  const { lives } = collectLives([...renames, ...rows].sort((a, b) => a.position - b.position));
  return [...lives.values()].filter(({ names }) => names.some(({ name }) => name === id));
}

/**
 * Returns the names that collections had during their lives, by identity. Collections that were never renamed are
 * omitted.
 */
export async function readNamesOfLifetimes(db: Queryable, names: Iterable<string>): Promise<Map<Identity, string[]>> {
  const changes = await readNameChanges(db);
  const changed = new Set(changes.links.flat());
  const requested = [...names].filter((name) => changed.has(name));
  if (requested.length === 0) return new Map();
  const { lives } = await readLives(db, findConnected(requested, changes.links), changes);
  return new Map([...lives].map(([identity, { names: had }]) => [identity, had.map(({ name }) => name)]));
}

interface NamedPart {
  collection: string;
  field?: string | undefined;
  /** The position at which the names apply. Undefined means the head. */
  at?: number | undefined;
}

/**
 * Returns all spans of the collection or field that has the name, or that had it last. A field is first looked up in
 * the collection that has the collection name now, then in those that had it before. Empty if nothing ever had the
 * name.
 */
export async function readSpans(db: Queryable, { collection, field, at = Infinity }: NamedPart): Promise<NameSpan[]> {
  if (field === undefined) return readCollectionSpans(db, [collection], at);
  const changes = await readNameChanges(db);
  const { lives, fields } = await readLives(db, findConnected([collection], changes.links), changes, ENDS_AND_FIELDS);
  const collections = [...lives.values()].map((life) => ({ of: life, spans: spansIn(life) }));
  const called = latestFirst(collections, (span) => span.from <= at && span.collection === collection);
  for (const { of: life } of called) {
    const own = [...fields.values()].filter(({ of }) => of === life);
    const [latest] = latestFirst(own, (span) => span.from <= at && span.field === field);
    if (latest !== undefined) return latest.spans;
  }
  return [];
}

/** Returns all spans of the collections that have the names at a position, or that had them last before it. */
export async function readCollectionSpans(db: Queryable, names: Iterable<string>, at: number): Promise<NameSpan[]> {
  const changes = await readNameChanges(db);
  const { lives } = await readLives(db, findConnected(names, changes.links), changes);
  const collections = [...lives.values()].map((life) => ({ spans: spansIn(life) }));
  const called = [...names].map((name) =>
    latestFirst(collections, (span) => span.from <= at && span.collection === name).at(0),
  );
  return [...new Set(called)].flatMap((lifetime) => lifetime?.spans ?? []);
}

/** Returns the spans of a collection's names, ordered by position. */
export const spansIn = ({ names }: ObjectLifetime): NameSpan[] =>
  names.map(({ name, from, to }) => ({ collection: name, field: null, from, to }));

/** Returns the lives that have a matching span, sorted by that span. The most recent one comes first. */
function latestFirst<T extends { spans: readonly NameSpan[] }>(lives: T[], fits: (span: NameSpan) => boolean): T[] {
  const began = ({ spans }: T): number => spans.findLast(fits)?.from ?? 0;
  return lives.filter((life) => began(life) > 0).sort((a, b) => began(b) - began(a));
}

interface NameChanges {
  renames: readonly Row[];
  links: readonly [string, string][];
}

async function readNameChanges(db: Queryable): Promise<NameChanges> {
  const { rows } = await db.query<Row>(NAME_CHANGES);
  return { renames: rows.filter(({ type }) => type === 'collection.renamed'), links: rows.map(linkOf) };
}

/** Maps identities to lives, in the order of creation. */
interface ObjectLifetimes {
  lives: ReadonlyMap<Identity, ObjectLifetime>;
  /** Empty if the query reads no fields. */
  fields: ReadonlyMap<Identity, FieldLife>;
}

/** @param names the requested names and all names that renames link to them */
async function readLives(
  db: Queryable,
  names: ReadonlySet<string>,
  { renames }: NameChanges,
  statement = ENDS,
): Promise<ObjectLifetimes> {
  const { rows } = await db.query<Row>(statement, [[...names]]);
  return collectLives([...renames, ...rows].sort((a, b) => a.position - b.position));
}

interface LivingCollection {
  life: ObjectLifetime;
  fields: Map<string, FieldLife>;
}

interface LifetimeWalk {
  lives: Map<Identity, ObjectLifetime>;
  fields: Map<Identity, FieldLife>;
  /** Maps current names to lives. */
  alive: Map<string, LivingCollection>;
}

/** @param rows sorted by position */
function collectLives(rows: readonly Row[]): ObjectLifetimes {
  const walk: LifetimeWalk = { lives: new Map(), fields: new Map(), alive: new Map() };
  for (const row of rows) {
    if (row.type === 'collection.created' || row.type === 'collection.adopted') beginCollection(walk, row);
    else {
      // Undefined for a collection that never had one of the names. Its events are ignored.
      const living = walk.alive.get(row.collection);
      if (living !== undefined) STEPS[row.type](walk, living, row);
    }
  }
  return walk;
}

type Step = (walk: LifetimeWalk, living: LivingCollection, row: Row) => void;

const STEPS: Readonly<Record<Exclude<Row['type'], 'collection.created' | 'collection.adopted'>, Step>> = {
  'collection.deleted'({ alive }, { life, fields }, row) {
    end(life, row);
    for (const field of fields.values()) endSpan(field, row);
    alive.delete(row.collection);
  },
  'collection.renamed'({ alive }, living, row) {
    if (row.to === null) return;
    end(living.life, row);
    begin(living.life, row.to, row);
    alive.delete(row.collection);
    alive.set(row.to, living);
    for (const [name, field] of living.fields) {
      endSpan(field, row);
      field.spans.push({ collection: row.to, field: name, from: row.position, to: null });
    }
  },
  'field.created'(walk, living, row) {
    beginField(walk, living, { ...row, identity: row.restored?.identity ?? String(row.position) });
  },
  'field.renamed'(_, { fields }, row) {
    const field = fields.get(row.field ?? '');
    if (field === undefined || row.to === null) return;
    endSpan(field, row);
    field.spans.push({ collection: row.collection, field: row.to, from: row.position, to: null });
    fields.delete(row.field ?? '');
    fields.set(row.to, field);
  },
  'field.deleted'(_, { fields }, row) {
    const field = fields.get(row.field ?? '');
    if (field === undefined) return;
    endSpan(field, row);
    fields.delete(row.field ?? '');
  },
};

/** Begins the life of a collection. A restored collection continues its life, and so do its fields. */
function beginCollection(walk: LifetimeWalk, row: Row): void {
  const { lives, alive } = walk;
  const identity = row.restored?.identity ?? String(row.position);
  const life = lives.get(identity) ?? { identity, names: [] };
  lives.set(identity, life);
  begin(life, row.collection, row);
  const living: LivingCollection = { life, fields: new Map() };
  alive.set(row.collection, living);
  for (const [index, field] of (row.fields ?? []).entries()) {
    const own = row.restored?.fields[index] ?? `${row.position}.${index + 1}`;
    beginField(walk, living, { ...row, field, identity: own });
  }
}

function beginField(walk: LifetimeWalk, living: LivingCollection, row: Row & { identity: Identity }): void {
  const { identity, field: name, collection, position } = row;
  if (name === null) return;
  const field = walk.fields.get(identity) ?? { of: living.life, spans: [] };
  walk.fields.set(identity, field);
  field.spans.push({ collection, field: name, from: position, to: null });
  living.fields.set(name, field);
}

/** Returns two names that belong to the same collection. */
const linkOf = ({ collection, to, restored }: Row): [string, string] => [
  restored?.name ?? collection,
  to ?? collection,
];

/** Returns all names that are linked to the given ones, directly or indirectly. Extra names do no harm. */
function findConnected(from: Iterable<string>, links: readonly [string, string][]): ReadonlySet<string> {
  const names = new Set(from);
  const linked = new Map<string, string[]>();
  for (const [one, other] of links) {
    linked.set(one, [...(linked.get(one) ?? []), other]);
    linked.set(other, [...(linked.get(other) ?? []), one]);
  }
  // The loop also visits names that are added to the set while it runs.
  for (const name of names) for (const other of linked.get(name) ?? []) names.add(other);
  return names;
}

function begin(life: ObjectLifetime, name: string, { position, occurred_at }: Row): void {
  life.names.push({ name, from: position, since: occurred_at.toISOString(), to: null, until: null });
}

function end({ names }: ObjectLifetime, { position, occurred_at }: Row): void {
  const last = names.at(-1);
  if (last !== undefined) Object.assign(last, { to: position, until: occurred_at.toISOString() });
}

function endSpan({ spans }: FieldLife, { position }: Row): void {
  const last = spans.at(-1);
  if (last !== undefined) last.to = position;
}

/** Written like the condition of a partial index. */
export const IS_RENAME = `e.type IN ('collection.renamed', 'field.renamed')`;

/** A purge is listed with the deletion that it completes, because another collection may have the name by now. */
const AT = `CASE WHEN e.type = 'trash.purged' THEN (e.data ->> 'position'::text)::bigint ELSE e.position END`;

/** Selects the events of the spans, and renames of other objects that affect them. */
export function withinSpans(spans: readonly NameSpan[], values: unknown[]): string {
  const location = (value: unknown, type: string): string => `$${values.push(value)}::${type}`;
  const conditions = spans.map(({ collection, field, from, to }) => {
    const begin = location(from, 'bigint');
    const end = to === null ? null : location(to, 'bigint');
    const within = `e.position >= ${begin} AND ${AT} >= ${begin}${end === null ? '' : ` AND ${AT} <= ${end}`}`;
    const name = location(collection, 'text');
    if (field === null)
      return `(${within} AND (e.collection = ${name} OR (${IS_RENAME} AND e.data -> 'touches'::text ? ${name})))`;
    // True if the collection was created, renamed or deleted at the beginning or end of the span.
    const ends = `${AT} IN (${[begin, ...(end === null ? [] : [end])].join(', ')})`;
    const patched = ['field', 'relation'].map(
      (member) =>
        `e.data -> 'patches'::text @> ${location(JSON.stringify([{ collection, [member]: field }]), 'jsonb')}`,
    );
    return `(${within} AND (e.collection = ${name} AND (e.field = ${location(field, 'text')} OR ${ends}) OR (${IS_RENAME} AND (${patched.join(' OR ')}))))`;
  });
  return conditions.length === 0 ? 'false' : `(${conditions.join(' OR ')})`;
}

/** Finds the events that ended collections and fields by identity, under any of their names. */

interface EndRow {
  position: number;
  type: string;
  collection: string;
  field: string | null;
  /** The new name of a rename. */
  to: string | null;
  /** Names of the fields that a collection was created with. */
  fields: string[] | null;
  /** The identities of the objects that an event restored from the trash. */
  restored: { identity: Identity; fields?: Identity[] } | null;
}

const END_COLUMNS = `position, type, collection, field, data ->> 'to'::text AS "to", data -> 'restored'::text AS restored,
  CASE WHEN type IN ('collection.created', 'collection.adopted') THEN pg_catalog.jsonb_path_query_array(data, '$.fields[*].field') END AS fields`;

const EVENTS = `SELECT ${END_COLUMNS} FROM ${own.events}
 WHERE position = ANY ($1)
    OR position > $2 AND (type IN ('collection.renamed', 'field.renamed', 'collection.deleted', 'field.deleted')
       OR type IN ('collection.created', 'field.created') AND data ? 'restored'::text)
 ORDER BY position`;

/** Returns the positions of the events that created the objects. An identity starts with that position. */
const readBirth = (identity: Identity): number => Number(identity.split('.')[0]);

/** A collection, found by its current name, and its requested fields by their current names. */
interface ExistingCollection {
  identity: Identity;
  fields: Map<string, Identity>;
}

export interface LifetimeEnd {
  position: number;
  /** True if the event deleted the object itself. False if it deleted the collection that contains the field. */
  isOwn: boolean;
}

/** Returns the event that last deleted each object. Objects that still exist are omitted. */
export async function endsOf(
  db: Queryable,
  identities: Iterable<Identity>,
): Promise<ReadonlyMap<Identity, LifetimeEnd>> {
  const requested = new Set(identities);
  const births = [...new Set([...requested].map(readBirth))].sort((a, b) => a - b);
  const ends = new Map<Identity, LifetimeEnd>();
  const [first] = births;
  if (first === undefined) return ends;
  const { rows } = await db.query<EndRow>(EVENTS, [births, first]);
  const living = new Map<string, ExistingCollection>();
  for (const row of rows) follow(living, row, { requested, ends });
  return ends;
}

interface EndSearch {
  requested: ReadonlySet<Identity>;
  ends: Map<Identity, LifetimeEnd>;
}

type Follow = (living: Map<string, ExistingCollection>, row: EndRow, found: EndSearch) => void;

function follow(living: Map<string, ExistingCollection>, row: EndRow, search: EndSearch): void {
  FOLLOW[row.type]?.(living, row, search);
}

const FOLLOW: Readonly<Record<string, Follow>> = {
  'collection.created': beginLife,
  'collection.adopted': beginLife,
  'collection.renamed'(living, { collection, to }) {
    const node = living.get(collection);
    if (node === undefined || to === null) return;
    living.delete(collection);
    living.set(to, node);
  },
  'collection.deleted'(living, { collection, position }, search) {
    const node = living.get(collection);
    if (node === undefined) return;
    for (const identity of node.fields.values()) endLife(identity, { position, isOwn: false }, search);
    endLife(node.identity, { position, isOwn: true }, search);
    living.delete(collection);
  },
  'field.created'(living, { collection, field, position, restored }, { requested, ends }) {
    const identity = restored?.identity ?? String(position);
    if (field === null || !requested.has(identity)) return;
    ends.delete(identity);
    at(living, collection).fields.set(field, identity);
  },
  'field.renamed'(living, { collection, field, to }) {
    const fields = living.get(collection)?.fields;
    const identity = fields?.get(field ?? '');
    if (fields === undefined || identity === undefined || to === null) return;
    fields.delete(field ?? '');
    fields.set(to, identity);
  },
  'field.deleted'(living, { collection, field, position }, search) {
    const fields = living.get(collection)?.fields;
    const identity = fields?.get(field ?? '');
    if (fields === undefined || identity === undefined) return;
    endLife(identity, { position, isOwn: true }, search);
    fields.delete(field ?? '');
  },
};

function endLife(identity: Identity, at: LifetimeEnd, { requested, ends }: EndSearch): void {
  if (requested.has(identity)) ends.set(identity, at);
}

function beginLife(
  living: Map<string, ExistingCollection>,
  { collection, position, fields, restored }: EndRow,
  { requested, ends }: EndSearch,
): void {
  const node: ExistingCollection = { identity: restored?.identity ?? String(position), fields: new Map() };
  for (const [index, name] of (fields ?? []).entries()) {
    const identity = restored?.fields?.[index] ?? `${position}.${index + 1}`;
    if (requested.has(identity)) node.fields.set(name, identity);
  }
  for (const identity of [node.identity, ...node.fields.values()]) ends.delete(identity);
  living.set(collection, node);
}

/** Adds a collection that was not requested but contains a requested field. */
function at(living: Map<string, ExistingCollection>, collection: string): ExistingCollection {
  const node = living.get(collection) ?? { identity: '', fields: new Map<string, Identity>() };
  living.set(collection, node);
  return node;
}
