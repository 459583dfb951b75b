import { formatCount, visibleText } from '../kernel/text.js';
import type { AcknowledgedDivergence } from '../log/verification.js';
import type { Difference } from '../projector/verify/index.js';
import type { DisallowedChange } from '../schema/change-requests/replay-policy.js';
import { locationText } from '../schema/model/location.js';
import type { Divergence, LogPosition } from '../schema/model/events.js';

/** `1 difference`, `3 differences` */
export function countDifferences({ length }: readonly Difference[]): string {
  return formatCount(length, 'difference');
}

/** Writes one line: `catalog articles.title type: expected "text", found "integer"`. */
export function describeDifference({
  where,
  collection,
  field,
  member,
  expected,
  found,
}: Omit<Difference, 'expected' | 'found'> & Record<'expected' | 'found', unknown>): string {
  const name = visibleText(locationText({ collection, field })).replaceAll('\n', '\\n');
  const location = [where, name, member].filter((part) => part !== '').join(' ');
  return `  ${location}: expected ${showValue(expected)}, found ${showValue(found)}`;
}

export const showValue = (value: unknown): string => (value === null ? 'nothing' : JSON.stringify(value));

/** Returns a sentence to append, or an empty text. */
export const describeErased = (events: number): string =>
  events === 0 ? '' : ` Personal data was erased from ${events} ${events === 1 ? 'event' : 'events'}.`;

/** Writes one line: `The change at position 7 was not allowed: …`. Reasons may contain names of a hostile log. */
export const describeDisallowed = ({ position, reason }: DisallowedChange): string =>
  `The change at position ${position} was not allowed: ${visibleText(reason).replaceAll('\n', '\\n')}.`;

/** Writes one line: `2026-11-21T08:05:03Z: position 16 (3f9a…) was seen; the log ended at 13 (77c1…)`. */
export function describeDivergence({
  seen,
  found,
  fork = null,
  noticed_at,
  ...more
}: Divergence & Partial<AcknowledgedDivergence>): string {
  const parted = fork === null || fork === found.position ? '' : `, and differs after position ${fork}`;
  const line = `${noticed_at}: ${describePosition(seen)} was read before and is missing; the log ended at ${describePosition(found)}${parted}`;
  if (!('acknowledged' in more)) return line;
  return `${line}; ${more.acknowledged === null ? 'not acknowledged yet' : `acknowledged by event ${more.acknowledged}`}`;
}

const describePosition = ({ position, hash }: LogPosition): string =>
  `position ${position}${hash === null ? '' : ` (${hash.slice(0, 12)}…)`}`;
