/** Reads the log in order, in pages. */
import type { Cause, Context, StoredEvent, EventSubject } from '../schema/model/events.js';
import { readEvent } from '../schema/fold/upcasting.js';
import { JSON_AS_TEXT, type Queryable } from '../postgres/pool.js';
import { own } from '../postgres/own-tables.js';
import { createTimeSlice, mapYielding } from '../kernel/event-loop.js';

/** An event as stored: in the version it was written with, not parsed. */
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
  context?: Context | undefined;
  /** The subject other than a collection. */
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

/** Rows per query: enough to make round trips cheap, few enough for a log of large events. */
const PAGE = 1_000;

export const EVENT_COLUMNS =
  'position, id, batch, type, version, collection, field, data, actor, command, reason, request_id, ip, user_agent, ' +
  'context, subject, occurred_at, previous_hash, hash';

export type EventRow = Omit<EventRecord, 'occurred_at'> & { occurred_at: Date };

export function toEventRecord(row: EventRow): EventRecord {
  const { context, subject, ...always } = row;
  const occurred_at = row.occurred_at.toISOString();
  return { ...always, ...(context && { context }), ...(subject && { subject }), occurred_at };
}

/**
 * Yields events in order, upcast to the newest version, in pages. It requests the next page while the caller uses the
 * current one. Each page sees what is committed at its time, so the iteration ends at the head of that time.
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
      // The next iteration awaits this promise. If the reader stops here, a failure does not matter.
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
  return mapYielding(rows, (row) => toEventRecord(parsedRow(row)), createTimeSlice());
}

/** A row with JSON columns as text. */
export type UnparsedRow = Omit<EventRow, Documents> & Record<Documents, string | null>;

type Documents = 'data' | 'actor' | 'context' | 'subject';

export function parsedRow(row: UnparsedRow): EventRow {
  const parsed = row as Record<Documents, unknown>;
  for (const name of ['data', 'actor', 'context', 'subject'] as const) {
    const text = row[name];
    if (text !== null) parsed[name] = JSON.parse(text);
  }
  return row as unknown as EventRow;
}

export const HEAD_QUERY = `SELECT position, hash, occurred_at FROM ${own.events} ORDER BY position DESC LIMIT 1`;

/** Returns 0 for an empty log. */
export async function headPosition(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ position: number }>(HEAD_QUERY);
  return rows[0]?.position ?? 0;
}
