/** The state at a moment that a request names. */
import type { Point } from '../../log/fold.js';
import { FutureMomentError } from '../../reads/history/index.js';
import type { Moment } from '../../reads/history/moment.js';
import { UnreadableEventError } from '../../schema/fold/upcasting.js';
import type { HttpDeps } from '../deps.js';
import { refused } from '../errors.js';
import type { Call } from '../route.js';

/** @param parameter which one names the moment, or its place in the body: refusals are at it */
export type PointAt = (given: Moment, parameter: string, call: Call<unknown>) => Promise<Point>;

/** @param wrong the code of a moment that has not been yet */
export function createPointAt(
  { history, store }: Pick<HttpDeps, 'history' | 'store'>,
  wrong: 'INVALID_QUERY' | 'INVALID_PAYLOAD' = 'INVALID_QUERY',
): PointAt {
  return async (given, parameter, { head }) => {
    // What is at hand is as far as the log was when the request came in.
    await store.atHead(head).catch((error: unknown) => {
      // What was before the event that can't be read can be shown all the same.
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
