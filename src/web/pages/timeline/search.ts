/** What of the timeline stands in its address. */
import type { BatchFilter } from '../../service/history-queries.js';

export interface TimelineSearch {
  collection?: string;
  /** Name or id. */
  actor?: string;
  /** Days as the viewer has them: `2026-11-22`. */
  since?: string;
  until?: string;
  /** The one that is looked at. */
  batch?: string;
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

export function readTimelineSearch({
  collection,
  actor,
  since,
  until,
  batch,
}: Record<string, unknown>): TimelineSearch {
  const found: TimelineSearch = {};
  if (isName(collection)) found.collection = String(collection);
  if (isName(actor)) found.actor = String(actor);
  if (typeof since === 'string' && DAY.test(since)) found.since = since;
  if (typeof until === 'string' && DAY.test(until)) found.until = until;
  if (typeof batch === 'string') found.batch = batch;
  return found;
}

/** One of digits alone comes as a number. */
const isName = (given: unknown): given is string | number =>
  (typeof given === 'string' && given !== '') || typeof given === 'number';

/** Days begin and end where the viewer is. */
export function filterOf({ collection, actor, since, until }: TimelineSearch): BatchFilter {
  return {
    collection,
    actor,
    since: since && new Date(`${since}T00:00:00`).toISOString(),
    until: until && new Date(`${until}T23:59:59.999`).toISOString(),
  };
}
