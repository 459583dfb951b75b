/** Reading the log in order, in pages. */
import type { Cause, Context, StoredEvent, EventSubject } from '../schema/model/events.js';
import { readEvent } from '../schema/fold/upcasting.js';
import { JSON_AS_TEXT, type Queryable } from '../postgres/pool.js';
import { own } from '../postgres/own-tables.js';
import { createTimeSlice, mapYielding } from '../kernel/event-loop.js';

/** An event as it is stored: of the version it was written with, not parsed. */
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
  /** What it is about other than a collection. */
  subject?: EventSubject | undefined;
  occurred_at: string;
  previous_hash: string;
  hash: string;
}

export interface Range {
  /** Events after this position. */
  after: number;
  /** Events up to and with this position; to the end when absent. */
  upTo?: number;
  /** At most so many events. */
  limit?: number;
}

/** Rows of one query: enough to make the round trips cheap, few enough for a log of large events. */
const PAGE = 1_000;

/** Columns as `toEventRecord` needs them. */
export const EVENT_COLUMNS =
  'position, id, batch, type, version, collection, field, data, actor, command, reason, request_id, ip, user_agent, ' +
  'context, subject, occurred_at, previous_hash, hash';

export type EventRow = Omit<EventRecord, 'occurred_at'> & { occurred_at: Date };

/** A row of service_events as an event. */
export function toEventRecord(row: EventRow): EventRecord {
  const { context, subject, ...always } = row;
  const occurred_at = row.occurred_at.toISOString();
  return { ...always, ...(context && { context }), ...(subject && { subject }), occurred_at };
}

/**
 * Events in order, upcast to the newest version, page by page: no turn of the event loop for each event. The next page
 * is asked for while this one is used; each sees what is committed at its moment, so the iteration ends at the head of
 * then.
 * @throws Error naming the position of an event this release doesn't know
 */
export async function* readEventPages(db: Queryable, range: Range): AsyncGenerator<StoredEvent[], void, undefined> {
  const slice = createTimeSlice();
  for await (const page of readRecordPages(db, range)) yield await mapYielding(page, readEvent, slice);
}

/** Pages of events in order, as they are stored. */
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
      // Awaited in the next iteration, or never when the reader stops here; then its failure is of no concern.
      next.catch(() => undefined);
    }
    if (page.length > 0) yield page;
    if (!more) return;
  }
}

/** One page, in order. */
export async function readPage(db: Queryable, range: Range & { limit: number }): Promise<EventRecord[]> {
  const { rows } = await db.query<UnparsedRow>({
    name: 'log-page',
    text: `SELECT ${EVENT_COLUMNS} FROM ${own.events} WHERE position > $1 AND position <= $2 ORDER BY position LIMIT $3`,
    values: [range.after, range.upTo ?? Number.MAX_SAFE_INTEGER, range.limit],
    types: JSON_AS_TEXT,
  });
  return mapYielding(rows, (row) => toEventRecord(parsedRow(row)), createTimeSlice());
}

/** A row whose JSON is text. */
export type UnparsedRow = Omit<EventRow, Documents> & Record<Documents, string | null>;

type Documents = 'data' | 'actor' | 'context' | 'subject';

/** The same row, parsed. */
export function parsedRow(row: UnparsedRow): EventRow {
  const parsed = row as Record<Documents, unknown>;
  for (const name of ['data', 'actor', 'context', 'subject'] as const) {
    const text = row[name];
    if (text !== null) parsed[name] = JSON.parse(text);
  }
  return row as unknown as EventRow;
}

/** The end of the log. */
export const HEAD_QUERY = `SELECT position, hash, occurred_at FROM ${own.events} ORDER BY position DESC LIMIT 1`;

/** The position of the newest event; 0 without any. */
export async function headPosition(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ position: number }>(HEAD_QUERY);
  return rows[0]?.position ?? 0;
}
