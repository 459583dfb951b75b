/** Recomputes the plans of applied change requests from the log. It needs PostgreSQL's parser, so a browser cannot run it. */
import type { Resumable } from '../../kernel/resumable.js';
import { isObjectInScope, reachesOutside } from '../collection-scope.js';
import { changesObjects, changesSchema } from '../fold/event-schemas.js';
import { startFolding } from '../fold/evolve.js';
import { type RawEvent, UnreadableEventError, readEvent } from '../fold/upcasting.js';
import type { LogEvent } from '../model/events.js';
import { type State, initialState } from '../model/state.js';
import { planHash } from './plan-hash.js';
import type { PlanReplay } from './replay-policy.js';

/**
 * Keeps the current schema. Every batch of a log must be passed to it, starting with the first one. The events of a
 * batch are folded only at its end, because the state before it is needed.
 */
export function createPlanReplay(): PlanReplay {
  const folding = startFolding(initialState());
  let unreadable: UnreadableEventError | undefined;

  function* fold(recorded: readonly RawEvent[]): Resumable<LogEvent[]> {
    const events: LogEvent[] = [];
    try {
      for (const each of unreadable === undefined ? recorded : []) {
        const event = readEvent(each);
        folding.add(event);
        events.push(event);
        yield;
      }
    } catch (error) {
      if (!(error instanceof UnreadableEventError)) throw error;
      unreadable = error;
    }
    return events;
  }

  return function* planOf({ events: recorded, applied, policy, isScoped }) {
    if (applied === null && !isScoped) {
      yield* fold(recorded);
      return { plan: null };
    }
    const before = folding.state();
    const events = yield* fold(recorded);
    if (unreadable !== undefined) return { plan: unreadable };
    const batch = { before, after: folding.state(), events };
    const { purge, acknowledge } = applied ?? {};
    const plan = applied === null ? null : yield* planHash({ ...batch, purge, acknowledge, policy });
    return { plan, reachesOutside: (scope) => changesOutside(batch, scope) };
  };
}

/**
 * Evaluates only changes to the schema and to objects. Unlike a request, the log also contains updates of triggers that
 * PostgreSQL rewrote. They are allowed within the scope.
 */
function changesOutside(
  { before, after, events }: { before: State; after: State; events: readonly LogEvent[] },
  scope: readonly string[],
): boolean {
  const judged = events.filter(
    (event) =>
      changesSchema(event) || (changesObjects(event) && !isObjectInScope(scope, [before, after], event.subject)),
  );
  return reachesOutside({ before, after, events: judged }, scope);
}
