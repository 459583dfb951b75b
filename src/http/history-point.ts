/** The state at a moment that a query names. */
import type { Point } from '../log/fold.js';
import { FutureMomentError } from '../reads/history/index.js';
import type { Moment } from '../reads/history/moment.js';
import { UnreadableEventError } from '../schema/fold/upcasting.js';
import type { HttpDeps } from './deps.js';
import { invalidQuery, refused } from './errors.js';
import type { Call } from './route.js';

/** @param parameter which one names the moment: refusals are at it */
export type PointAt = (given: Moment, parameter: string, call: Call<unknown>) => Promise<Point>;

export function createPointAt({ history, store }: Pick<HttpDeps, 'history' | 'store'>): PointAt {
  return async (given, parameter, { head }) => {
    // What is at hand is as far as the log was when the request came in.
    await store.atHead(head).catch((error: unknown) => {
      // What was before the event that can't be read can be shown all the same.
      if (!(error instanceof UnreadableEventError)) throw error;
    });
    const position = await history.resolve(given, head).catch((error: unknown) => {
      if (error instanceof FutureMomentError) throw invalidQuery(parameter, `${error.message}.`);
      throw error;
    });
    if (position !== null) return history.at(position);
    throw refused('NOT_FOUND', `There is no such position: the log ends at ${head}.`, { path: parameter });
  };
}
