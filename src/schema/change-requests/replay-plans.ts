/** Recomputes the plans of applied change requests from the log. It needs PostgreSQL's parser, so a browser cannot run it. */
import type { Resumable } from '../../kernel/resumable.js';
import { startFolding } from '../fold/evolve.js';
import { type RawEvent, UnreadableEventError, readEvent } from '../fold/upcasting.js';
import type { LogEvent } from '../model/events.js';
import { initialState } from '../model/state.js';
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

  return function* planOf({ events: recorded, applied, policy }) {
    if (applied === null) {
      yield* fold(recorded);
      return null;
    }
    const before = folding.state();
    const events = yield* fold(recorded);
    if (unreadable !== undefined) return unreadable;
    const after = folding.state();
    const { purge, acknowledge } = applied;
    return yield* planHash({ before, after, events, purge, acknowledge, policy });
  };
}
