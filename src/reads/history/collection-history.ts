/** The history of one collection under all its names: its events, each with the resulting diff. */
import { createTimeSlice, runYielding } from '../../kernel/event-loop.js';
import type { Queryable } from '../../postgres/pool.js';
import { type EventText, selectEventTexts } from '../../log/event-text.js';
import { type SchemaDiff, diffStates } from '../../schema/diff/diff.js';
import { touchedBy } from '../../schema/fold/event-schemas.js';
import { evolve } from '../../schema/fold/evolve.js';
import { type SchemaChange, renamedWithin } from '../../schema/fold/rename-events.js';
import { readEvent, type RawEvent } from '../../schema/fold/upcasting.js';
import { type State, initialState } from '../../schema/model/state.js';
import { type Life, livesOf, spansIn } from '../../log/lives.js';
import { withinSpans } from './filter.js';
import { isRename } from '../../schema/model/events.js';
import type { TimeTravel } from './time-travel.js';

export interface CollectionEvent extends EventText {
  /** The change of the event as a diff. */
  diff: SchemaDiff;
}

export interface CollectionHistory {
  /** In order. */
  events: CollectionEvent[];
  /** Lives of all collections that ever had the name. */
  lives: Life[];
}

export interface CollectionHistoryOptions {
  collection: string;
  /** Exclusive. */
  after: number;
  limit: number;
}

/**
 * Only events of the collection and renames of objects it references can change it, so only those are read.
 * @returns undefined if no collection ever had the name
 */
export async function readCollectionHistory(
  db: Queryable,
  travel: TimeTravel,
  options: CollectionHistoryOptions,
): Promise<CollectionHistory | undefined> {
  const { collection, after, limit } = options;
  const lives = await livesOf(db, collection);
  if (lives.length === 0) return undefined;
  const values: unknown[] = [after];
  const where = `e.position > $1 AND ${withinSpans(lives.flatMap(spansIn), values)}`;
  const texts = await selectEventTexts(db, { where, values, order: 'asc', limit });
  const [first] = texts;
  if (first === undefined) return { events: [], lives };
  let state = after === 0 ? initialState() : (await travel.at(first.position - 1)).state;
  const events: CollectionEvent[] = [];
  const slice = createTimeSlice();
  for (const event of texts) {
    // One event may contain a collection with thousands of fields.
    if (slice.isOver()) await slice.yield();
    const placed = readEvent(JSON.parse(event.text) as RawEvent) as SchemaChange;
    const before = state;
    state = evolveWithin(before, placed);
    events.push({ ...event, diff: await runYielding(diffStates(before, state, touchedBy(placed)), slice) });
  }
  return { events, lives };
}

/** Other objects that an event changes may be missing from this partial state. */
const evolveWithin = (state: State, event: SchemaChange): State =>
  isRename(event) ? renamedWithin(state, event) : evolve(state, event);
