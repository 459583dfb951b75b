/* Folds events to a state, together with its position in the log. */
import pg from 'pg';
import { type LogHead, emptyHead } from './head.js';
import { readCollectionSpans, withinSpans } from './lifetimes.js';
import { createTimeSlice, runYielding, mapYielding } from '../kernel/event-loop.js';
import type { Resumable } from '../kernel/resumable.js';
import type { Queryable } from '../postgres/pool.js';
import { type EventSubject, type StoredEvent, isRename } from '../schema/model/events.js';
import { startFolding, type PositionedEvent } from '../schema/fold/evolve.js';
import { applyRenameWithin } from '../schema/fold/rename-events.js';
import { type State, initialState } from '../schema/model/state.js';
import { UnreadableEventError, readEvent } from '../schema/fold/upcasting.js';
import { own } from '../postgres/own-tables.js';
import type { Range } from './read.js';

/* Reads the log for folds, without actors or reasons. This makes reading a long log several times faster. */

/** An event with its hashes in the chain. */
type LinkedEvent = PositionedEvent & { previous_hash: string; hash: string };

interface FoldPage {
  /** Ordered by position, upcast to the newest version. There is at least one event. */
  events: LinkedEvent[];
  /** Returns the time of an event by its index, ISO 8601. */
  timeOf: (index: number) => string;
}

const PAGE = 2_000;

type Row = [number, string, number, string | null, string | null, unknown, string, string, string, EventSubject | null];

const QUERY = {
  name: 'log-fold-page',
  text: `SELECT position, type, version, collection, field, data, previous_hash, hash, occurred_at, subject
            FROM ${own.events}
          WHERE position > $1 AND position <= $2 ORDER BY position LIMIT $3`,
  rowMode: 'array' as const,
  types: { getTypeParser: (oid: number) => PARSERS.get(oid) ?? asText },
};

const asText = (text: string): string => text;

/** Few timestamps of a page are needed, so timestamps are not parsed. */
const PARSERS = new Map<number, (text: string) => unknown>([
  [pg.types.builtins.INT8, Number],
  [pg.types.builtins.INT4, Number],
  [pg.types.builtins.JSONB, (text: string): unknown => JSON.parse(text)],
]);

/**
 * Returns pages of events in order. It requests the next page while the caller uses the current one.
 * @throws UnreadableEventError with the position of an event that this release does not know
 */
async function* readFoldPages(db: Queryable, range: Range): AsyncGenerator<FoldPage, void, undefined> {
  const slice = createTimeSlice();
  let next = readRows(db, range);
  for (;;) {
    const rows = await next;
    const last = rows.at(-1);
    if (last === undefined) return;
    const more = rows.length === PAGE;
    if (more) {
      next = readRows(db, { ...range, after: last[0] });
      // The next iteration awaits this promise. If the consumer stops first, nobody needs its error.
      next.catch(() => undefined);
    }
    yield { events: await mapYielding(rows, toEvent, slice), timeOf: (index) => toIso((rows[index] as Row)[8]) };
    if (!more) return;
  }
}

async function readRows(db: Queryable, { after, upTo = Number.MAX_SAFE_INTEGER }: Range): Promise<Row[]> {
  const { rows } = await db.query<Row>({ ...QUERY, values: [after, upTo, PAGE] });
  return rows;
}

function toEvent([position, type, version, collection, field, data, previous_hash, hash, , subject]: Row): LinkedEvent {
  const event = { position, type, version, collection, field, data, previous_hash, hash };
  return readEvent(subject === null ? event : { ...event, subject });
}

/** Converts `2026-11-21 08:05:03.12+00`, the format of DateStyle ISO in UTC. */
function toIso(text: string): string {
  return new Date(`${text.slice(0, 10)}T${text.slice(11).replace(/\+00$/, 'Z')}`).toISOString();
}

/** A state and its position in the log. */
export interface Point {
  readonly state: State;
  readonly head: LogHead;
}

export function createStartPoint(): Point {
  return { state: initialState(), head: emptyHead() };
}

/** The log does not continue the events folded so far, for example because the database was restored from a backup. */
export class LogDivergedError extends Error {
  override readonly name = 'LogDivergedError';
  /** The position at which the log stops matching. */
  readonly position: number;

  constructor(position: number, why: string) {
    super(`event ${position} ${why}`);
    this.position = position;
  }
}

/**
 * Converts the error of an event that does not continue the chain. Within one log, such an event is reported as
 * unreadable.
 */
export function toUnreadable(error: unknown): unknown {
  return error instanceof LogDivergedError ? new UnreadableEventError(error.position, NOT_NEXT) : error;
}

const NOT_NEXT = 'it does not follow the event before it: an event is missing, or the log was changed';

/**
 * Folds the events that follow `from`, in steps.
 * @throws LogDivergedError if they do not continue the chain
 */
export function* foldPage(from: Point, events: readonly StoredEvent[]): Resumable<Point> {
  const last = events.at(-1);
  if (last === undefined) return from;
  const folding = startFolding(from.state);
  yield* link(from.head, events, (event) => folding.add(event));
  return {
    state: folding.state(),
    head: { position: last.position, hash: last.hash, occurred_at: last.occurred_at },
  };
}

export interface FoldLogOptions {
  /** The last position to fold. Defaults to the end of the log. */
  upTo?: number;
  /**
   * Intermediate points to report. `next` returns the position at which the next point is due. With `exact` the point of
   * that position is reported, otherwise that of the end of its page.
   */
  stops?: { next: (from: Point) => number; reached: (point: Point) => void; exact?: true };
}

const NO_STOPS: NonNullable<FoldLogOptions['stops']> = { next: () => Infinity, reached: () => undefined };

/**
 * Folds the log after `from`, page by page and in time slices.
 * @throws LogDivergedError if the log does not continue `from`
 */
export async function foldLog(db: Queryable, from: Point, options: FoldLogOptions = {}): Promise<Point> {
  const { upTo, stops = NO_STOPS } = options;
  const folding = startFolding(from.state);
  let { head } = from;
  let stop = stops.next(from);
  const slice = createTimeSlice();
  const range = { after: head.position, ...(upTo !== undefined && { upTo }) };
  for await (const { events, timeOf } of readFoldPages(db, range)) {
    for (let start = 0; start < events.length;) {
      const within = head !== from.head;
      const most = stops.exact ? Math.max(stop - head.position, 1) : events.length;
      const end = Math.min(start + most, events.length);
      const { position, hash } = await runYielding(
        link(head, events.slice(start, end), (event) => folding.add(event), within),
        slice,
      );
      head = { position, hash, occurred_at: timeOf(end - 1) };
      start = end;
      if (position < stop) continue;
      const point = { state: folding.state(), head };
      stops.reached(point);
      stop = stops.next(point);
    }
  }
  return head === from.head ? from : { state: folding.state(), head };
}

/**
 * Folds the log once, and calls `visit` with the state before each of these events.
 * @param events in the order of the log, all after `from`
 * @returns the point before the last of them
 * @throws LogDivergedError if the log does not continue `from`
 */
export async function foldBefore<E extends { position: number }>(
  db: Queryable,
  from: Point,
  events: readonly E[],
  visit: (event: E, state: State) => void,
): Promise<Point> {
  const last = events.at(-1);
  if (last === undefined) return from;
  const visited = events.values();
  let next = visited.next().value;
  const visitNext = ({ state, head }: Point): void => {
    if (next?.position !== head.position + 1) return;
    visit(next, state);
    next = visited.next().value;
  };
  visitNext(from);
  const stops = { next: () => (next?.position ?? Infinity) - 1, reached: visitNext, exact: true as const };
  return foldLog(db, from, { upTo: last.position - 1, stops });
}

/**
 * @param within true if `from` was just read from the same log
 * @returns the last event
 */
function* link<E extends LinkedEvent>(
  from: LogHead,
  events: readonly E[],
  add: (event: E) => void,
  within = false,
): Resumable<LinkedEvent> {
  let last: Pick<LinkedEvent, 'position' | 'hash'> = from;
  for (const event of events) {
    if (event.previous_hash !== last.hash || event.position !== last.position + 1) {
      // If an event is missing, the error names its position, not that of its successor.
      const position = Math.min(event.position, last.position + 1);
      const error = new LogDivergedError(position, `does not follow position ${last.position}`);
      throw within || last !== from || from.position === 0 ? toUnreadable(error) : error;
    }
    add(event);
    last = event;
    yield;
  }
  return last as LinkedEvent;
}

/*
 * Folds some collections. The log is indexed by collection and position. Reading the events of a few collections is
 * therefore faster than folding all events since the last stored state.
 */

/** Limits on names and events of the collections. Above them, folding the log from a stored state is faster. */
const MOST: FoldLimits = { spans: 100, events: 3_000 };

interface FoldLimits {
  spans: number;
  events: number;
}

/** For callers that read very few collections. All their events are in memory at once. LIMIT needs a finite number. */
export const NO_FOLD_LIMITS: FoldLimits = { spans: Infinity, events: Number.MAX_SAFE_INTEGER - 1 };

/** Returns the state with the collections that have the names at a position. Undefined if the limits are exceeded. */
export async function foldCollections(
  db: Queryable,
  names: Iterable<string>,
  position: number,
  limits: FoldLimits = MOST,
): Promise<State | undefined> {
  const spans = await readCollectionSpans(db, names, position);
  if (spans.length > limits.spans) return undefined;
  const values: unknown[] = [position];
  const { rows } = await db.query<PositionedEvent>(
    `SELECT position, type, version, collection, field, data FROM ${own.events} e
      WHERE e.position <= $1::bigint AND ${withinSpans(spans, values)} ORDER BY e.position LIMIT ${limits.events + 1}`,
    values,
  );
  if (rows.length > limits.events) return undefined;
  const slice = createTimeSlice();
  let folding = startFolding(initialState());
  for (const row of rows) {
    const event = readEvent(row);
    if (isRename(event)) folding = startFolding(applyRenameWithin(folding.state(), event));
    else folding.add(event);
    if (slice.isOver()) await slice.yield();
  }
  return folding.state();
}

/** Runs `work` while no other writer can change the log or the projections. The pipeline implements this. */
export interface LogLock {
  underLock<T>(
    work: (client: pg.ClientBase, point: Point) => Promise<T>,
    foldOptions?: { altersTables?: boolean; readOnly?: boolean },
  ): Promise<T>;
}
