/* Writes the trash list service_trash in the transaction of its events. */
import type pg from 'pg';
import { type Parameterised, sendBatch } from '../../postgres/exchange.js';
import { own } from '../../postgres/own-tables.js';
import type { Resumable } from '../../kernel/resumable.js';
import { type Folding, startFolding } from '../../schema/fold/evolve.js';
import { type LogEvent, type StoredEvent, isDeletion } from '../../schema/model/events.js';
import type { CollectionNode, Identity, State } from '../../schema/model/state.js';
import { copiedRows } from '../ddl/trash.js';
import { sql } from '../ddl/sql.js';
import { isKeptTable, type TrashEntry, type KeptDeletion, allKeptDeletions } from './list.js';
import { type Point, foldLog, startPoint, type LogLock } from '../../log/fold.js';
import type { Queryable } from '../../postgres/pool.js';

/** The part of an entry that comes from the events. */
type Row = Pick<
  TrashEntry,
  'position' | 'kind' | 'collection' | 'field' | 'identity' | 'batch' | 'deleted_at' | 'kept_until'
>;

interface TrashBatch {
  before: State;
  events: readonly StoredEvent[];
}

/**
 * The entry reflects the catalog after the DDL: a table that is not in its trash schema is not listed. Rows come from
 * its statistics, bytes from its files; copied values are counted. LIMIT makes PostgreSQL look up each table
 * separately: it estimates a hundred rows for any list, and would read all of pg_class.
 */
const INSERT = `
INSERT INTO ${own.trash} (position, kind, collection, field, identity, batch, deleted_at, kept_until, rows, bytes)
SELECT t.position, t.kind, t.collection, t.field, t.identity, t.batch, t.deleted_at, t.kept_until,
       CASE WHEN t.kind = 'field' THEN ${copiedRows(sql`c.oid`)} WHEN c.reltuples >= 0::real THEN c.reltuples::bigint END, pg_catalog.pg_total_relation_size(c.oid)
  FROM pg_catalog.jsonb_to_recordset($1::jsonb) AS t (position bigint, kind text, collection text, field text, identity text,
                                       batch uuid, deleted_at timestamptz, kept_until timestamptz)
  CROSS JOIN LATERAL (SELECT c.oid, c.reltuples FROM pg_catalog.pg_class c
                       WHERE ${isKeptTable('t')} LIMIT 1) c`;

const REMOVE = `DELETE FROM ${own.trash} t USING pg_catalog.jsonb_array_elements_text($1::jsonb) AS gone (position) WHERE t.position = gone.position::bigint`;

/** Missing objects are left out. */
const insertRows = (rows: readonly Row[]): Parameterised => ({ text: INSERT, values: [JSON.stringify(rows)] });

/** The entries that a batch adds and removes. Run it after the DDL of the batch. */
export function* trashStatements({ before, events }: TrashBatch): Resumable<Parameterised[]> {
  const rows = events.some(isKept) ? yield* rowsOf(before, events) : [];
  const gone = events.flatMap(positionsLeft);
  return [
    ...(rows.length > 0 ? [insertRows(rows)] : []),
    ...(gone.length > 0 ? [{ text: REMOVE, values: [JSON.stringify(gone)] }] : []),
  ];
}

type Deletion = Extract<StoredEvent, { type: 'collection.deleted' | 'field.deleted' }>;

const isKept = (event: StoredEvent): event is Deletion => isDeletion(event) && event.data.kept_until !== undefined;

/** An object may be created or renamed in the batch that deletes it. */
function* rowsOf(before: State, events: readonly StoredEvent[]): Resumable<Row[]> {
  const rows: Row[] = [];
  const folding = startFolding(before);
  for (const event of events) {
    if (isKept(event)) rows.push(rowOf(event, folding));
    folding.add(event);
    yield;
  }
  return rows;
}

function rowOf({ position, collection, field, data, batch, occurred_at: deleted_at }: Deletion, at: Folding): Row {
  const identity = identityOf({ collection, field }, at.node(collection));
  const kind = field === null ? 'collection' : 'field';
  return { position, kind, collection, field, identity, batch, deleted_at, kept_until: data.kept_until ?? '' };
}

/** @param node the collection just before the deletion */
export function identityOf(
  { collection, field }: Pick<Row, 'collection' | 'field'>,
  node: CollectionNode | undefined,
): Identity {
  const identity = field === null ? node?.identities.collection : node?.identities.fields.get(field);
  if (identity === undefined) throw new Error(`trash: ${JSON.stringify(collection)} did not exist before`);
  return identity;
}

/** The trash positions that become empty. Alias fields are restored with their table. */
function positionsLeft(event: LogEvent): number[] {
  if (event.type === 'trash.purged') return [event.data.position];
  if (event.type !== 'collection.created' && event.type !== 'field.created') return [];
  const { restored } = event.data;
  return restored === undefined ? [] : [restored.position];
}

/* Rebuilds the trash list from the log: open deletions whose objects still exist. */

export const TRASH_PROJECTION = 'trash';

export interface RebuiltTrash {
  position: number;
  /** The number of objects in the trash. */
  entries: number;
}

/** The identities of deleted objects up to a point of the log. Only a fold provides them. */
interface FoldedIdentities {
  identities: ReadonlyMap<number, Identity>;
  point: Point;
}

/** Folds without the log's lock from the first event, and takes it only for the last deletions and the rows. */
export async function rebuildTrash(pool: pg.Pool, lock: LogLock): Promise<RebuiltTrash> {
  const known = await follow(pool, { identities: new Map(), point: startPoint() }, await keptAndThere(pool));
  return lock.underLock(async (client, { head: { position } }) => {
    const kept = await keptAndThere(client);
    const { identities } = await follow(client, known, kept);
    await client.query(`DELETE FROM ${own.trash}`);
    const rows = kept.map((each) => ({ ...each, identity: identities.get(each.position) as Identity }));
    await sendBatch(client, [insertRows(rows)]);
    return { position, entries: rows.length };
  });
}

const keptAndThere = async (db: Queryable): Promise<KeptDeletion[]> =>
  (await allKeptDeletions(db)).filter(({ there }) => there);

/**
 * Continues along the log from deletion to deletion.
 * @param kept in order
 */
async function follow(
  db: Queryable,
  { identities, point }: FoldedIdentities,
  kept: readonly KeptDeletion[],
): Promise<FoldedIdentities> {
  const found = new Map(identities);
  let at = point;
  for (const deletion of kept) {
    if (found.has(deletion.position)) continue;
    at = await foldLog(db, at, { upTo: deletion.position - 1 });
    found.set(deletion.position, identityOf(deletion, at.state.collections.get(deletion.collection)));
  }
  return { identities: found, point: at };
}
