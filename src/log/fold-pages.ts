/** Reads the log for folds, without actors and reasons. That makes reading a long log several times faster. */
import pg from 'pg';
import type { Queryable } from '../postgres/pool.js';
import type { PlacedEvent } from '../schema/fold/evolve.js';
import { readEvent } from '../schema/fold/upcasting.js';
import { createTimeSlice, mapYielding } from '../kernel/event-loop.js';
import { own } from '../postgres/own-tables.js';
import type { Range } from './read.js';

/** An event with its hashes in the chain. */
export type LinkedEvent = PlacedEvent & { previous_hash: string; hash: string };

export interface FoldPage {
  /** In order, upcast to the newest version. At least one event. */
  events: LinkedEvent[];
  /** Time of the last event, ISO 8601. */
  occurred_at: string;
}

const PAGE = 2_000;

type Row = [number, string, number, string | null, string | null, unknown, string, string, string];

const QUERY = {
  name: 'log-fold-page',
  text: `SELECT position, type, version, collection, field, data, previous_hash, hash, occurred_at FROM ${own.events}
          WHERE position > $1 AND position <= $2 ORDER BY position LIMIT $3`,
  rowMode: 'array' as const,
  types: { getTypeParser: (oid: number) => PARSERS.get(oid) ?? asText },
};

const asText = (text: string): string => text;

/** Only the last time of a page is needed, so times are not parsed. */
const PARSERS = new Map<number, (text: string) => unknown>([
  [pg.types.builtins.INT8, Number],
  [pg.types.builtins.INT4, Number],
  [pg.types.builtins.JSONB, (text: string): unknown => JSON.parse(text)],
]);

/**
 * Returns pages of events in order. It requests the next page while the caller uses the current one.
 * @throws UnreadableEventError with the position of an event that this release does not know
 */
export async function* readFoldPages(db: Queryable, range: Range): AsyncGenerator<FoldPage, void, undefined> {
  const slice = createTimeSlice();
  let next = readRows(db, range);
  for (;;) {
    const rows = await next;
    const last = rows.at(-1);
    if (last === undefined) return;
    const more = rows.length === PAGE;
    if (more) {
      next = readRows(db, { ...range, after: last[0] });
      // The next iteration awaits this promise. If the reader stops here, a failure does not matter.
      next.catch(() => undefined);
    }
    yield { events: await mapYielding(rows, toEvent, slice), occurred_at: toIso(last[8]) };
    if (!more) return;
  }
}

async function readRows(db: Queryable, { after, upTo = Number.MAX_SAFE_INTEGER }: Range): Promise<Row[]> {
  const { rows } = await db.query<Row>({ ...QUERY, values: [after, upTo, PAGE] });
  return rows;
}

function toEvent([position, type, version, collection, field, data, previous_hash, hash]: Row): LinkedEvent {
  return readEvent({ position, type, version, collection, field, data, previous_hash, hash });
}

/** Converts `2026-11-21 08:05:03.12+00`, the format of DateStyle ISO in UTC. */
function toIso(text: string): string {
  return new Date(`${text.slice(0, 10)}T${text.slice(11).replace(/\+00$/, 'Z')}`).toISOString();
}
