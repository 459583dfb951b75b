import { isoOf } from '../../shared/text.js';

const VIEWS = ['entries', 'sql', 'files'] as const;
export type View = (typeof VIEWS)[number];

export interface CompareSearch {
  /** Points in time: positions, times, `now`. */
  from?: string | number;
  to?: string | number;
  /** The view. `entries` by default. */
  as?: View;
}

const MOMENT = /^[0-9A-Za-z:.+-]{1,64}$/;

/** Reads the query of the address. Invalid values are ignored. The service checks if a point in time exists. */
export function readCompareSearch({ from, to, as }: Record<string, unknown>): CompareSearch {
  const search: CompareSearch = {};
  if (isMoment(from)) search.from = from;
  if (isMoment(to)) search.to = to;
  if (VIEWS.some((view) => view === as)) search.as = as as View;
  return search;
}

const isMoment = (value: unknown): value is string | number =>
  typeof value === 'number' || (typeof value === 'string' && MOMENT.test(value));

/* Parses a point in time as a user types it. */

export const NOW = 'now';

const POSITION = /^\d{1,15}$/;
const DAY = /^\d{4}-\d{2}-\d{2}$/;
const LOCAL_TIME = /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2})$/;
const ZONED_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})$/i;

/**
 * Parses a position, a day, a time or `now`. Days begin in the viewer's zone, and times without a zone are in it.
 * @returns a value of the address. Null for anything else, such as a part of a change's name
 */
export function parsePoint(input: string): string | number | null {
  const text = input.trim();
  // A number needs no quotes in the address.
  if (POSITION.test(text)) return Number(text);
  if (text.toLowerCase() === NOW) return NOW;
  if (ZONED_TIME.test(text)) return text;
  if (DAY.test(text)) return toIso(new Date(`${text}T00:00:00`));
  const [, day, time] = LOCAL_TIME.exec(text) ?? [];
  return day === undefined || time === undefined ? null : pointAt(`${day}T${time}`);
}

/**
 * Returns the end of the minute, or `now` if that is in the future, which the service rejects.
 * @param local the value of an input for dates and times
 */
export function pointAt(local: string): string | null {
  const time = isoOf(local);
  return time !== null && Date.parse(time) > Date.now() ? NOW : time;
}

const toIso = (date: Date): string | null => (Number.isNaN(date.getTime()) ? null : date.toISOString());
