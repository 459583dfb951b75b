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
export function readTimelineSearch(search: Record<string, unknown>): TimelineSearch {
  const valid: TimelineSearch = {};
  for (const name of NAMES) if (isName(search[name])) valid[name] = String(search[name]);
  for (const name of DAYS) if (matchesShape(DAY, search[name])) valid[name] = String(search[name]);
  if (matchesShape(TYPE, search['type'])) valid.type = String(search['type']);
  if (typeof search['batch'] === 'string') valid.batch = search['batch'];
  if (typeof search['from'] === 'number' && search['from'] >= 0) valid.from = search['from'];
  return valid;
}

const matchesShape = (shape: RegExp, value: unknown): boolean => typeof value === 'string' && shape.test(value);

/** A name of digits is parsed as a number. */
const isName = (value: unknown): value is string | number =>
  (typeof value === 'string' && value !== '') || typeof value === 'number';

/** Days begin and end in the viewer's zone. */
export function filterOf({ q, collection, field, type, actor, since, until }: TimelineSearch): BatchFilter {
  return {
    q,
    collection,
    field,
    // The service rejects an unknown type.
    type: type as BatchFilter['type'],
    actor,
    since: since && new Date(`${since}T00:00:00`).toISOString(),
    until: until && new Date(`${until}T23:59:59.999`).toISOString(),
  };
}
