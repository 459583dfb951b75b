/** The history of one collection: its events, each with the change it made. */
import { createTimeSlice, runYielding } from '../../kernel/event-loop.js';
import type { Queryable } from '../../postgres/pool.js';
import { type EventText, selectEventTexts } from '../../log/event-text.js';
import { type SchemaDiff, diffStates } from '../../schema/diff/diff.js';
import { evolve } from '../../schema/fold/evolve.js';
import { readEvent, type RawEvent } from '../../schema/fold/upcasting.js';
import { initialState } from '../../schema/model/state.js';
import { own } from '../../postgres/own-tables.js';
import type { TimeTravel } from './time-travel.js';

export interface CollectionEvent extends EventText {
  /** What the event changed, in the diff's form. */
  diff: SchemaDiff;
}

export interface CollectionHistoryOptions {
  collection: string;
  /** Events after this position. */
  after: number;
  limit: number;
}

/** In order. Only the collection's own events change it, so only they are read. */
export async function readCollectionHistory(
  db: Queryable,
  travel: TimeTravel,
  options: CollectionHistoryOptions,
): Promise<CollectionEvent[]> {
  const { collection, after, limit } = options;
  const texts = await selectEventTexts(db, {
    where: 'e.collection = $1 AND e.position > $2',
    values: [collection, after],
    order: 'asc',
    limit,
  });
  const [first] = texts;
  if (first === undefined) return [];
  let state = after === 0 ? initialState() : (await travel.at(first.position - 1)).state;
  const found: CollectionEvent[] = [];
  const slice = createTimeSlice();
  for (const event of texts) {
    // One event may be a collection of thousands of fields.
    if (slice.isOver()) await slice.yield();
    const before = state;
    state = evolve(before, readEvent(JSON.parse(event.text) as RawEvent));
    found.push({ ...event, diff: await runYielding(diffStates(before, state, [collection]), slice) });
  }
  return found;
}

/** Whether there ever was a collection of this name. */
export async function hasHistory(db: Queryable, collection: string): Promise<boolean> {
  const { rowCount } = await db.query(`SELECT FROM ${own.events} WHERE collection = $1 LIMIT 1`, [collection]);
  return rowCount === 1;
}
