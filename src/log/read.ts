/* Reads the log in order of position, in pages. */
import type pg from 'pg';
import type { Cause, Context, StoredEvent, EventSubject } from '../schema/model/events.js';
import { readEvent } from '../schema/fold/upcasting.js';
import { JSON_AS_TEXT, type Queryable } from '../postgres/pool.js';
import { own } from '../postgres/own-tables.js';
import { createTimeSlice, mapYielding } from '../kernel/event-loop.js';

/** An event as stored: not parsed, and in the version in which it was written. */
export interface EventRecord {
  position: number;
  id: string;
  batch: string;
  type: string;
  version: number;
  collection: string | null;
  field: string | null;
  data: unknown;
  actor: Cause['actor'];
  command: string;
  reason: string | null;
  request_id: string | null;
  ip: string | null;
  user_agent: string | null;
  /** The random part of the commitment, hex. Null if the personal data was erased. */
  salt: string | null;
  /** SHA-256 over the salt and the personal data, hex. */
  commitment: string;
  context?: Context | undefined;
  /** The kind and id of the subject, if the event concerns something other than a collection. */
  subject?: EventSubject | undefined;
  occurred_at: string;
  previous_hash: string;
  hash: string;
}

export interface Range {
  /** Exclusive. */
  after: number;
  /** Inclusive. Defaults to the end of the log. */
  upTo?: number;
  /** Maximum number of events. */
  limit?: number;
}

/** Rows per query. This is enough to make round trips cheap, and few enough for a log with large events. */
const PAGE = 1_000;

export const EVENT_COLUMNS =
  'position, id, batch, type, version, collection, field, data, actor, command, reason, request_id, ip, user_agent, ' +
  'salt, commitment, context, subject, occurred_at, previous_hash, hash';

export type EventRow = Omit<EventRecord, 'occurred_at'> & { occurred_at: Date };

export function toEventRecord(row: EventRow): EventRecord {
  const { context, subject, ...always } = row;
  const occurred_at = row.occurred_at.toISOString();
  return { ...always, ...(context && { context }), ...(subject && { subject }), occurred_at };
}

/**
 * Yields events in pages, in order, upcast to the newest version. It requests the next page while the caller uses the
 * current one. Each page sees the commits up to its own query, so the iteration ends at the head at that time.
 * @throws Error with the position of an event that this release does not know
 */
export async function* readEventPages(db: Queryable, range: Range): AsyncGenerator<StoredEvent[], void, undefined> {
  const slice = createTimeSlice();
  for await (const page of readRecordPages(db, range)) yield await mapYielding(page, readEvent, slice);
}

export async function* readRecordPages(db: Queryable, range: Range): AsyncGenerator<EventRecord[], void, undefined> {
  let left = range.limit ?? Infinity;
  let next = readPage(db, { ...range, limit: Math.min(left, PAGE) });
  while (left > 0) {
    const page = await next;
    left -= page.length;
    const after = page.at(-1)?.position;
    const more = page.length === PAGE && left > 0 && after !== undefined;
    if (more) {
      next = readPage(db, { ...range, after, limit: Math.min(left, PAGE) });
      // The next iteration awaits this promise. If the consumer stops first, nobody needs its error.
      next.catch(() => undefined);
    }
    if (page.length > 0) yield page;
    if (!more) return;
  }
}

async function readPage(db: Queryable, range: Range & { limit: number }): Promise<EventRecord[]> {
  const { rows } = await db.query<UnparsedRow>({
    name: 'log-page',
    text: `SELECT ${EVENT_COLUMNS} FROM ${own.events} WHERE position > $1 AND position <= $2 ORDER BY position LIMIT $3`,
    values: [range.after, range.upTo ?? Number.MAX_SAFE_INTEGER, range.limit],
    types: JSON_AS_TEXT,
  });
  return mapYielding(rows, (row) => toEventRecord(parseRow(row)), createTimeSlice());
}

/** A row whose JSON columns are strings. */
type UnparsedRow = Omit<EventRow, Documents> & Record<Documents, string | null>;

type Documents = 'data' | 'actor' | 'context' | 'subject';

function parseRow(row: UnparsedRow): EventRow {
  const parsed = row as Record<Documents, unknown>;
  for (const name of ['data', 'actor', 'context', 'subject'] as const) {
    const text = row[name];
    if (text !== null) parsed[name] = JSON.parse(text);
  }
  return row as unknown as EventRow;
}

export const HEAD_QUERY = `SELECT position, hash, occurred_at FROM ${own.events} ORDER BY position DESC LIMIT 1`;

/** Returns 0 for an empty log. */
export async function readHeadPosition(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ position: number }>(HEAD_QUERY);
  return rows[0]?.position ?? 0;
}

/* Reads events as the JSON text of API responses. */

export interface EventText {
  position: number;
  hash: string;
  /** The kind and id of the subject, if the event concerns something other than a collection. */
  subject?: { kind: string; id: string };
  /**
   * The stored event on one line, as JSON.stringify writes it. It is not upcast, so that clients can verify its hash.
   */
  text: string;
}

/** Columns of an event, listed in the order of the members of a response. */
const COLUMNS =
  'position, id, batch, type, version, collection, field, data, actor, command, reason, request_id, ip, user_agent, ' +
  'salt, commitment, context, subject, occurred_at, hash, previous_hash';

/** SQL fragments with placeholders. `text` numbers them from $1. */
interface Selection {
  where: string;
  values: readonly unknown[];
  order: 'asc' | 'desc';
  limit: number;
}

/** Returns the events in the requested order. */
export async function selectEventTexts(db: Queryable, selection: Selection): Promise<EventText[]> {
  const { where, values, order, limit } = selection;
  const { rows } = await db.query<UnparsedRow>({
    text: `SELECT ${COLUMNS} FROM ${own.events} e WHERE ${where} ORDER BY e.position ${order} LIMIT ${limit}`,
    values: [...values],
    types: JSON_AS_TEXT,
  });
  return mapYielding(rows, (row) => toText(parseRow(row)), createTimeSlice());
}

function toText(row: EventRow): EventText {
  const { position, hash, subject } = row;
  return { position, hash, ...(subject && { subject }), text: textOf(row) };
}

/** Omits the members that are null for most events. */
function textOf(row: EventRow): string {
  row.context ??= undefined;
  row.subject ??= undefined;
  return JSON.stringify(row);
}

/** Returns the events after `after` up to and including `upTo`, in order. */
export function readEventTexts(db: Queryable, range: { after: number; upTo: number; limit: number }) {
  const { after, upTo, limit } = range;
  return selectEventTexts(db, {
    where: 'e.position > $1 AND e.position <= $2',
    values: [after, upTo],
    order: 'asc',
    limit,
  });
}

/* Copies events into an empty log. Their positions, ids, times and hashes do not change. */

const INSERT = `
  INSERT INTO ${own.events} (position, id, batch, type, version, collection, field, data, actor, command, reason,
                              request_id, ip, user_agent, salt, commitment, context, subject, occurred_at, previous_hash, hash)
  SELECT position, id, batch, type, version, collection, field, data, actor, command, reason,
         request_id, ip, user_agent, salt, commitment, context, subject, occurred_at, previous_hash, hash
    FROM pg_catalog.jsonb_to_recordset($1) AS e (position bigint, id uuid, batch uuid, type text, version integer,
         collection text, field text, data jsonb, actor jsonb, command text, reason text, request_id text, ip text,
         user_agent text, salt text, commitment text, context jsonb, subject jsonb, occurred_at timestamptz, previous_hash text, hash text)`;

/** Inserts events. The caller must have verified the chain and must hold the log lock. */
export async function restoreEvents(client: pg.ClientBase, events: readonly EventRecord[]): Promise<void> {
  if (events.length > 0) await client.query(INSERT, [JSON.stringify(events)]);
}
