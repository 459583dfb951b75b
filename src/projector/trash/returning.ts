/** The objects that a plan restores from the trash, and when they expire. */
import { own } from '../../postgres/own-tables.js';
import type { Queryable } from '../../postgres/pool.js';
import { type LogEvent, takenFromTrash } from '../../schema/model/events.js';
import { shownTime } from './expressions.js';

export interface Return {
  collection: string;
  /** Null for a table. */
  field: string | null;
  /** The position of the deletion. */
  position: number;
  /** ISO 8601. After this time it may be purged. Null if it was purged or is not in the list. */
  kept_until: string | null;
}

/** In event order; empty if the events restore nothing. */
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
