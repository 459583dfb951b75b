/** The state at a point in time that a body names. */
import { invalid } from '../../kernel/problem.js';
import { readMoment } from '../../reads/history/moment.js';
import type { State } from '../../schema/model/state.js';
import type { HttpDeps } from '../deps.js';
import { Refused } from '../errors.js';
import { createPointAt } from './point.js';
import { cursor, requireInLog } from '../request/history-query.js';
import type { Call } from '../route.js';

const MOMENT = 'must be a position (42, or 42-3f9a… with the hash of its event), a time with its zone, a day, or now';

/**
 * Checks the hash of the log if the body contains one.
 * @throws Refused at `member`
 */
export function createMomentState(deps: Pick<HttpDeps, 'history' | 'store'>) {
  const pointAt = createPointAt(deps, 'INVALID_PAYLOAD');
  return async (given: unknown, member: string, call: Call<unknown>): Promise<State> => {
    const text = Number.isSafeInteger(given) ? String(given) : given;
    if (typeof text !== 'string') throw new Refused([invalid([member], MOMENT)]);
    const place = cursor.safeParse(text);
    const moment = place.success ? ({ kind: 'position', position: place.data.position } as const) : readMoment(text);
    if (moment === null) throw new Refused([invalid([member], MOMENT)]);
    if (place.success) await requireInLog(place.data, deps.history);
    return (await pointAt(moment, member, call)).state;
  };
}
