/** The state at a point in time that a request names. */
import type { Point } from '../../log/fold.js';
import { FutureMomentError } from '../../reads/history/index.js';
import type { Moment } from '../../reads/history/moment.js';
import { UnreadableEventError } from '../../schema/fold/upcasting.js';
import type { HttpDeps } from '../deps.js';
import { refused } from '../errors.js';
import type { Call } from '../route.js';

/** @param parameter the name of the query parameter or the location in the body, for errors */
export type PointAt = (given: Moment, parameter: string, call: Call<unknown>) => Promise<Point>;

/** @param wrong the code for a point in the future */
export function createPointAt(
  { history, store }: Pick<HttpDeps, 'history' | 'store'>,
  wrong: 'INVALID_QUERY' | 'INVALID_PAYLOAD' = 'INVALID_QUERY',
): PointAt {
  return async (given, parameter, { head }) => {
    // The available state is at least as recent as the log was when the request arrived.
    await store.atHead(head).catch((error: unknown) => {
      // States before the unreadable event can still be shown.
      if (!(error instanceof UnreadableEventError)) throw error;
    });
    const position = await history.resolve(given, head).catch((error: unknown) => {
      if (error instanceof FutureMomentError) throw refused(wrong, `${error.message}.`, { path: parameter });
      throw error;
    });
    if (position !== null) return history.at(position);
    throw refused('NOT_FOUND', `There is no such position: the log ends at ${head}.`, { path: parameter });
  };
}
