import type { BatchFilter } from '../../service/history-queries.js';

export interface TimelineSearch {
  /** Part of a reason or a name. */
  q?: string;
  collection?: string;
  field?: string;
  /** An event type: `field.updated`. */
  type?: string;
  actor?: string;
  /** Days in the viewer's zone: `2026-11-22`. */
  since?: string;
  until?: string;
  /** The open change. */
  batch?: string;
  /** The position selected for a comparison. */
  from?: number;
}

const NAMES = ['q', 'collection', 'field', 'actor'] as const;
const DAYS = ['since', 'until'] as const;

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const TYPE = /^[a-z]+\.[a-z_]+$/;

/** Ignores invalid values. Days are not checked against the calendar. */
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

/** A name of digits is parsed as a number. */
const isName = (given: unknown): given is string | number =>
  (typeof given === 'string' && given !== '') || typeof given === 'number';

/** Days begin and end in the viewer's zone. */
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
