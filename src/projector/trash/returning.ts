/** What a plan takes out of the trash, and until when it would be there. */
import { own } from '../../postgres/own-tables.js';
import type { Queryable } from '../../postgres/pool.js';
import { type LogEvent, takenFromTrash } from '../../schema/model/events.js';
import { shownTime } from './expressions.js';

export interface Return {
  collection: string;
  /** Null: the table. */
  field: string | null;
  /** Of the deletion. */
  position: number;
  /** ISO 8601. From then on it may be purged. Null: it was, or is no longer in the list. */
  kept_until: string | null;
}

/** In the order of the events; empty where they take nothing out. */
export async function returningBy(db: Queryable, events: readonly LogEvent[]): Promise<Return[]> {
  const taken = events.flatMap((event) => {
    if (event.type !== 'collection.created' && event.type !== 'field.created') return [];
    const { collection, field, data } = event;
    const restored = takenFromTrash(data);
    return restored === undefined ? [] : [{ collection, field, position: restored.position }];
  });
  if (taken.length === 0) return [];
  const { rows } = await db.query<{ position: number; kept_until: string }>(
    `SELECT t.position::float8 AS position, ${shownTime('t.kept_until')} AS kept_until
       FROM ${own.trash} t WHERE t.position = ANY ($1::bigint[])`,
    [taken.map(({ position }) => position)],
  );
  const until = new Map(rows.map(({ position, kept_until }) => [position, kept_until]));
  return taken.map((each) => ({ ...each, kept_until: until.get(each.position) ?? null }));
}
