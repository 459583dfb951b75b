/** Erases the personal data of events, and the copies that other rows have of it. */
import type pg from 'pg';
import { refoldChanges } from '../features/change-requests/rows.js';
import { sendBatch } from '../postgres/exchange.js';
import { own } from '../postgres/own-tables.js';
import { LOG_ERASED, erasureSubject, type LogEvent } from '../schema/model/events.js';

const ERASE = `UPDATE ${own.events}
   SET actor = pg_catalog.jsonb_build_object('id', actor -> 'id'::text, 'name', NULL),
       reason = NULL, ip = NULL, user_agent = NULL, salt = NULL
 WHERE position = ANY ($1::bigint[])`;

const CHANGES = `SELECT DISTINCT subject ->> 'id'::text AS id FROM ${own.events}
 WHERE position = ANY ($1::bigint[]) AND subject ->> 'kind'::text = 'change'`;

/** Erases in the client's transaction, which holds the log's lock and appends `erasedEvent`. */
export async function eraseEvents(client: pg.ClientBase, positions: readonly number[]): Promise<void> {
  const isErasing = (value: string) => ({
    text: `SELECT pg_catalog.set_config('service.erasure', $1, true)`,
    values: [value],
  });
  await sendBatch(client, [isErasing('on'), { text: ERASE, values: [positions.map(String)] }, isErasing('')]);
  const { rows } = await client.query<{ id: string }>(CHANGES, [positions]);
  await refoldChanges(
    client,
    rows.map(({ id }) => id),
  );
}

/** @param sorted the erased positions in order. All of these events have this actor. */
export function erasedEvent(actor: string, sorted: readonly number[]): LogEvent {
  const positions: [number, number][] = [];
  for (const position of sorted) {
    const last = positions.at(-1);
    if (last?.[1] === position - 1) last[1] = position;
    else positions.push([position, position]);
  }
  const subject = erasureSubject(actor);
  return { type: LOG_ERASED, version: 1, collection: null, field: null, subject, data: { positions } };
}
