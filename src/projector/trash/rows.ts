/** The list of what is in the trash: service_trash, written in the transaction of the events that it comes from. */
import type { Parameterised } from '../../postgres/exchange.js';
import { own } from '../../postgres/own-tables.js';
import type { Resumable } from '../../kernel/resumable.js';
import { type Folding, startFolding } from '../../schema/fold/evolve.js';
import type { LogEvent, StoredEvent } from '../../schema/model/events.js';
import type { CollectionNode, Identity, State } from '../../schema/model/state.js';
import { copiedRows } from '../ddl/trash/values.js';
import { sql } from '../ddl/sql.js';
import { isKeptTable } from './expressions.js';
import { isDeletion } from '../../schema/model/events.js';
import type { TrashEntry } from './list.js';

/** What the events say of an entry. */
type Row = Pick<
  TrashEntry,
  'position' | 'kind' | 'collection' | 'field' | 'identity' | 'batch' | 'deleted_at' | 'kept_until'
>;

export interface TrashBatch {
  /** The state that the batch started from. */
  before: State;
  events: readonly StoredEvent[];
}

/**
 * What the list says is what the catalog holds when this runs, after the DDL: a table that isn't in its schema of the
 * trash is not in the list. Rows and bytes are those of that table: its statistics, and its files; values that were copied are counted. The limit has each looked
 * up by itself: PostgreSQL takes any list for a hundred rows, and would read all of pg_class for them.
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

/** What of it is not there is left out. */
export const insertRows = (rows: readonly Row[]): Parameterised => ({ text: INSERT, values: [JSON.stringify(rows)] });

/** What a batch puts in and takes out; run after its DDL. */
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

/** What goes may have come, or got its name, in the same batch. */
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

/** Of what a deletion is about. @param node the collection just before it */
export function identityOf(
  { collection, field }: Pick<Row, 'collection' | 'field'>,
  node: CollectionNode | undefined,
): Identity {
  const identity = field === null ? node?.identities.collection : node?.identities.fields.get(field);
  if (identity === undefined) throw new Error(`trash: ${JSON.stringify(collection)} was not there before`);
  return identity;
}

/** The positions whose place in the trash is empty now. Alias fields come back with the table that they went with. */
function positionsLeft(event: LogEvent): number[] {
  if (event.type === 'trash.purged') return [event.data.position];
  if (event.type !== 'collection.created' && event.type !== 'field.created') return [];
  const { restored } = event.data;
  return restored === undefined ? [] : [restored.position];
}
