/* Parameters of history routes: event filters and points in time. */
import { z } from 'zod';
import { invalidProblem } from '../kernel/problem.js';
import { readMoment, type Moment } from '../reads/history/time-travel.js';
import type { State } from '../schema/model/state.js';
import type { HttpDeps } from './deps.js';
import { RejectedError, refused } from './errors.js';
import { cursor, requireInLog, type Cursor, moment } from './request/query.js';
import type { Call } from './route.js';
import { EVENT_TYPES, type EventFilter } from '../reads/history/batches.js';
import type { Point } from '../log/fold.js';
import { FutureMomentError } from '../reads/history/index.js';
import { UnreadableEventError } from '../schema/fold/upcasting.js';

/* Converts query parameters of /history to an event filter. */

/** A subject of events: `log`, or with an id `log:42`. */
export const subject = z
  .string()
  .regex(/^[^:]+(?::|$)/, { error: 'must be the kind of a subject (log), or a kind and an id (log:42).' })
  .optional();

export const filters = {
  collection: z.string().optional(),
  actor: z.string().optional(),
  command: z.string().optional(),
  subject,
  since: moment.optional(),
  until: moment.optional(),
};

export type Order = 'asc' | 'desc';

export const order = z.enum(['asc', 'desc'], { error: 'must be asc or desc.' });
export const type = z.enum(EVENT_TYPES, { error: `must be one of ${EVENT_TYPES.join(', ')}.` }).optional();

/** The filters of all history routes. Each route has only some of them. */
interface Filters {
  collection?: string | undefined;
  actor?: string | undefined;
  command?: string | undefined;
  subject?: string | undefined;
  since?: z.output<typeof moment> | undefined;
  until?: z.output<typeof moment> | undefined;
  field?: string | undefined;
  type?: EventFilter['type'];
  batch?: string | undefined;
}

/** Returns the filter for the events after the end of the last page. */
export const afterCursor = (filter: EventFilter, order: Order, cursor: number | undefined): EventFilter =>
  order === 'asc'
    ? { ...filter, after: Math.max(cursor ?? 0, filter.after ?? 0) }
    : { ...filter, before: lower(cursor, filter.before) };

/**
 * Returns the position of the cursor. Undefined if the request has none.
 * @throws RejectedError if the log does not contain the event of the cursor
 */
export async function positionOf(
  cursor: Cursor | undefined,
  history: HttpDeps['history'],
): Promise<number | undefined> {
  if (cursor !== undefined) await requireInLog(cursor, history);
  return cursor?.position;
}

const lower = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);

/** Creates the filter. Times are converted to positions, because times never decrease along the log. */
export async function filterOf(history: HttpDeps['history'], query: Filters): Promise<EventFilter> {
  const { since, until, subject, ...filter } = query;
  const after = since && (await resolveBound(history, since, 'since'));
  const last = until && (await resolveBound(history, until, 'until'));
  return {
    ...filter,
    ...subjectFilter(subject),
    ...(after !== undefined && { after }),
    ...(last !== undefined && { before: last + 1, namesAt: last }),
  };
}

/** Splits a subject into kind and id. The id may contain colons, but the kind cannot. */
export function subjectFilter(value: string | undefined): Pick<EventFilter, 'subjectKind' | 'subjectId'> {
  if (!value?.includes(':')) return { subjectKind: value };
  const colon = value.indexOf(':');
  return { subjectKind: value.slice(0, colon), subjectId: value.slice(colon + 1) };
}

/** Returns the position after which `since` begins, or at which `until` ends. */
async function resolveBound(
  history: HttpDeps['history'],
  value: z.output<typeof moment>,
  which: 'since' | 'until',
): Promise<number | undefined> {
  if (value.kind === 'now') return which === 'since' ? Number.MAX_SAFE_INTEGER : undefined;
  if (value.kind === 'position') return which === 'since' ? value.position - 1 : value.position;
  // Both bounds include the events at exactly that time.
  return history.positionBefore(which === 'since' ? value.time : new Date(value.time.getTime() + 1));
}

/* The state at a point in time that a request names. */

/* The state at a point in time that a body names. */

/**
 * Returns the state at a point in time.
 * @param parameter the name of the query parameter or the location in the body, for errors
 * @param names the collections that the caller needs. The state may lack all others. Undefined for all.
 */
export type PointAt = (
  value: Moment,
  parameter: string,
  call: Call<unknown>,
  names?: readonly string[],
) => Promise<Point>;

/** @param wrong the error code for a point in the future */
export function createPointAt(
  { history, store }: Pick<HttpDeps, 'history' | 'store'>,
  wrong: 'INVALID_QUERY' | 'INVALID_PAYLOAD' = 'INVALID_QUERY',
): PointAt {
  return async (value, parameter, { head }, names) => {
    // The store must contain at least the events that the log had when the request arrived.
    await store.atHead(head).catch((error: unknown) => {
      // The states before the unreadable event can still be shown.
      if (!(error instanceof UnreadableEventError)) throw error;
    });
    const position = await history.resolve(value, head).catch((error: unknown) => {
      if (error instanceof FutureMomentError) throw refused(wrong, `${error.message}.`, { path: parameter });
      throw error;
    });
    if (position !== null) return names === undefined ? history.at(position) : history.collectionsAt(names, position);
    throw refused('NOT_FOUND', `The position does not exist. The log ends at ${head}.`, { path: parameter });
  };
}

const MOMENT =
  'must be a position (42, or 42-3f9a… with the hash of its event), a time with its time zone, a day, or now';

/**
 * Reads a state that a body names. If the body contains a hash of the log, the hash is checked.
 * @throws RejectedError at `member`
 */
export function createMomentState(deps: Pick<HttpDeps, 'history' | 'store'>) {
  const pointAt = createPointAt(deps, 'INVALID_PAYLOAD');
  return async (value: unknown, member: string, call: Call<unknown>): Promise<State> => {
    const text = Number.isSafeInteger(value) ? String(value) : value;
    if (typeof text !== 'string') throw new RejectedError([invalidProblem([member], MOMENT)]);
    const parsed = cursor.safeParse(text);
    const moment = parsed.success ? ({ kind: 'position', position: parsed.data.position } as const) : readMoment(text);
    if (moment === null) throw new RejectedError([invalidProblem([member], MOMENT)]);
    if (parsed.success) await requireInLog(parsed.data, deps.history);
    return (await pointAt(moment, member, call)).state;
  };
}
