/** Folds events to a state with its position in the log. */
import { type LinkedEvent, readFoldPages } from './fold-pages.js';
import { type LogHead, emptyHead } from './head.js';
import { createTimeSlice, runYielding } from '../kernel/event-loop.js';
import type { Resumable } from '../kernel/resumable.js';
import type { Queryable } from '../postgres/pool.js';
import type { StoredEvent } from '../schema/model/events.js';
import { startFolding } from '../schema/fold/evolve.js';
import { type State, initialState } from '../schema/model/state.js';
import { UnreadableEventError } from '../schema/fold/upcasting.js';

/** A state with the position that it belongs to. */
export interface Point {
  readonly state: State;
  readonly head: LogHead;
}

export function startPoint(): Point {
  return { state: initialState(), head: emptyHead() };
}

/**
 * The log does not continue the events folded so far, for example after the database was restored to an earlier state.
 */
export class LogDivergedError extends Error {
  override readonly name = 'LogDivergedError';
  /** Position of the event that should continue it. */
  readonly position: number;

  constructor(position: number, why: string) {
    super(`event ${position} ${why}`);
    this.position = position;
  }
}

/** Within one log, an event that does not continue the chain counts as unreadable. */
export function broken(error: unknown): unknown {
  return error instanceof LogDivergedError ? new UnreadableEventError(error.position, NOT_NEXT) : error;
}

const NOT_NEXT = 'it does not follow the event before it: one is missing, or the log was changed';

/**
 * Folds events that continue `from`, in steps.
 * @throws LogDivergedError if they do not continue it
 */
export function* foldPage(from: Point, events: readonly StoredEvent[]): Resumable<Point> {
  const last = events.at(-1);
  if (last === undefined) return from;
  const folding = startFolding(from.state);
  yield* link(from.head, events, (event) => folding.add(event));
  return {
    state: yield* folding.stateInSteps(),
    head: { position: last.position, hash: last.hash, occurred_at: last.occurred_at },
  };
}

/** Runs `foldPage` for each page as it arrives. */
export async function foldPages(from: Point, pages: AsyncIterable<StoredEvent[]>): Promise<Point> {
  let point = from;
  for await (const page of pages) point = await runYielding(foldPage(point, page));
  return point;
}

export interface FoldLogOptions {
  /** The last position to fold. Defaults to the end of the log. */
  upTo?: number;
  /** Intermediate points to report. `next` returns the position after which the next one is due. */
  stops?: { next: (from: Point) => number; reached: (point: Point) => void };
}

const NO_STOPS = { next: () => Infinity, reached: () => undefined };

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
  for await (const { events, occurred_at } of readFoldPages(db, range)) {
    const within = head !== from.head;
    const { position, hash } = await runYielding(
      link(head, events, (event) => folding.add(event), within),
      slice,
    );
    head = { position, hash, occurred_at };
    if (position < stop) continue;
    const point = { state: await runYielding(folding.stateInSteps(), slice), head };
    stops.reached(point);
    stop = stops.next(point);
  }
  return head === from.head ? from : { state: await runYielding(folding.stateInSteps(), slice), head };
}

/**
 * @param within true if `from` was just read from the log itself
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
      // Reports the missing event rather than its successor.
      const position = Math.min(event.position, last.position + 1);
      const error = new LogDivergedError(position, `does not follow position ${last.position}`);
      throw within || last !== from || from.position === 0 ? broken(error) : error;
    }
    add(event);
    last = event;
    yield;
  }
  return last as LinkedEvent;
}
