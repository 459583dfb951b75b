/** What of the timeline stands in its address. */
import type { BatchFilter } from '../../service/history-queries.js';

export interface TimelineSearch {
  /** A part of a reason or of a name. */
  q?: string;
  collection?: string;
  field?: string;
  /** Of events: `field.updated`. */
  type?: string;
  /** Name or id. */
  actor?: string;
  /** Days as the viewer has them: `2026-11-22`. */
  since?: string;
  until?: string;
  /** The one that is looked at. */
  batch?: string;
  /** The position that another one is to be compared with. */
  from?: number;
}

const NAMES = ['q', 'collection', 'field', 'actor'] as const;
const DAYS = ['since', 'until'] as const;

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const TYPE = /^[a-z]+\.[a-z_]+$/;

/** Leaves out what has not the shape of its filter. A day isn't looked up in the calendar. */
export function readTimelineSearch(given: Record<string, unknown>): TimelineSearch {
  const found: TimelineSearch = {};
  for (const name of NAMES) if (isName(given[name])) found[name] = String(given[name]);
  for (const name of DAYS) if (fits(DAY, given[name])) found[name] = String(given[name]);
  if (fits(TYPE, given['type'])) found.type = String(given['type']);
  if (typeof given['batch'] === 'string') found.batch = given['batch'];
  if (typeof given['from'] === 'number' && given['from'] >= 0) found.from = given['from'];
  return found;
}

const fits = (shape: RegExp, given: unknown): boolean => typeof given === 'string' && shape.test(given);

/** One of digits alone comes as a number. */
const isName = (given: unknown): given is string | number =>
  (typeof given === 'string' && given !== '') || typeof given === 'number';

/** Days begin and end where the viewer is. */
export function filterOf({ q, collection, field, type, actor, since, until }: TimelineSearch): BatchFilter {
  return {
    q,
    collection,
    field,
    type,
    actor,
    since: since && new Date(`${since}T00:00:00`).toISOString(),
    until: until && new Date(`${until}T23:59:59.999`).toISOString(),
  };
}
