/** Events as the JSON text of API responses. */
import { createTimeSlice, mapYielding } from '../kernel/event-loop.js';
import { JSON_AS_TEXT, type Queryable } from '../postgres/pool.js';
import { type EventRow, parsedRow, type UnparsedRow } from './read.js';
import { own } from '../postgres/own-tables.js';

export interface EventText {
  position: number;
  hash: string;
  /** The subject other than a collection. Absent if there is none. */
  subject?: { kind: string; id: string };
  /** The stored event on one line, as JSON.stringify writes it. It is not upcast, so that its hash can be verified. */
  text: string;
}

/** In the order of the response. */
const COLUMNS =
  'position, id, batch, type, version, collection, field, data, actor, command, reason, request_id, ip, user_agent, ' +
  'context, subject, occurred_at, hash, previous_hash';

/** SQL fragments with placeholders. `text` numbers them from $1. */
export interface Selection {
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
  return mapYielding(rows, (row) => toText(parsedRow(row)), createTimeSlice());
}

function toText(row: EventRow): EventText {
  const { position, hash, subject } = row;
  return { position, hash, ...(subject && { subject }), text: textOf(row) };
}

/** Omits members that are null for most events. */
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
