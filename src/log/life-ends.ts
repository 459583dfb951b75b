/** Finds the events that ended collections and fields, by identity, whatever their names were. */
import type { Queryable } from '../postgres/pool.js';
import { own } from '../postgres/own-tables.js';
import type { Identity } from '../schema/model/state.js';

interface Row {
  position: number;
  type: string;
  collection: string;
  field: string | null;
  /** The new name of a rename. */
  to: string | null;
  /** Names of the fields that a collection was created with. */
  fields: string[] | null;
  /** The objects that an event restored from the trash. */
  restored: { identity: Identity; fields?: Identity[] } | null;
}

const COLUMNS = `position, type, collection, field, data ->> 'to'::text AS "to", data -> 'restored'::text AS restored,
  CASE WHEN type IN ('collection.created', 'collection.adopted') THEN pg_catalog.jsonb_path_query_array(data, '$.fields[*].field') END AS fields`;

const EVENTS = `SELECT ${COLUMNS} FROM ${own.events}
 WHERE position = ANY ($1)
    OR position > $2 AND (type IN ('collection.renamed', 'field.renamed', 'collection.deleted', 'field.deleted')
       OR type IN ('collection.created', 'field.created') AND data ? 'restored'::text)
 ORDER BY position`;

/** Positions of the events that created objects, from the identities that they assigned. */
const bornAt = (identity: Identity): number => Number(identity.split('.')[0]);

/** A collection by its current name, with the requested fields by their current names. */
interface Living {
  identity: Identity;
  fields: Map<string, Identity>;
}

export interface End {
  position: number;
  /** True if the event deleted the object itself, false if it deleted the collection of the field. */
  isOwn: boolean;
}

/** Returns the event that last deleted each object. Existing objects have none. */
export async function endsOf(db: Queryable, identities: Iterable<Identity>): Promise<ReadonlyMap<Identity, End>> {
  const asked = new Set(identities);
  const births = [...new Set([...asked].map(bornAt))].sort((a, b) => a - b);
  const ends = new Map<Identity, End>();
  const [first] = births;
  if (first === undefined) return ends;
  const { rows } = await db.query<Row>(EVENTS, [births, first]);
  const living = new Map<string, Living>();
  for (const row of rows) follow(living, row, { asked, ends });
  return ends;
}

interface Found {
  asked: ReadonlySet<Identity>;
  ends: Map<Identity, End>;
}

type Follow = (living: Map<string, Living>, row: Row, found: Found) => void;

function follow(living: Map<string, Living>, row: Row, found: Found): void {
  FOLLOW[row.type]?.(living, row, found);
}

const FOLLOW: Readonly<Record<string, Follow>> = {
  'collection.created': begin,
  'collection.adopted': begin,
  'collection.renamed'(living, { collection, to }) {
    const node = living.get(collection);
    if (node === undefined || to === null) return;
    living.delete(collection);
    living.set(to, node);
  },
  'collection.deleted'(living, { collection, position }, found) {
    const node = living.get(collection);
    if (node === undefined) return;
    for (const identity of node.fields.values()) end(identity, { position, isOwn: false }, found);
    end(node.identity, { position, isOwn: true }, found);
    living.delete(collection);
  },
  'field.created'(living, { collection, field, position, restored }, { asked, ends }) {
    const identity = restored?.identity ?? String(position);
    if (field === null || !asked.has(identity)) return;
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
  'field.deleted'(living, { collection, field, position }, found) {
    const fields = living.get(collection)?.fields;
    const identity = fields?.get(field ?? '');
    if (fields === undefined || identity === undefined) return;
    end(identity, { position, isOwn: true }, found);
    fields.delete(field ?? '');
  },
};

function end(identity: Identity, at: End, { asked, ends }: Found): void {
  if (asked.has(identity)) ends.set(identity, at);
}

function begin(
  living: Map<string, Living>,
  { collection, position, fields, restored }: Row,
  { asked, ends }: Found,
): void {
  const node: Living = { identity: restored?.identity ?? String(position), fields: new Map() };
  for (const [index, name] of (fields ?? []).entries()) {
    const identity = restored?.fields?.[index] ?? `${position}.${index + 1}`;
    if (asked.has(identity)) node.fields.set(name, identity);
  }
  for (const identity of [node.identity, ...node.fields.values()]) ends.delete(identity);
  living.set(collection, node);
}

/** A collection that was not requested, but contains a requested field. */
function at(living: Map<string, Living>, collection: string): Living {
  const node = living.get(collection) ?? { identity: '', fields: new Map<string, Identity>() };
  living.set(collection, node);
  return node;
}
