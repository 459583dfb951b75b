/** What of a log checkpoints are held against. */
import type { EventRecord } from '../../../log/read.js';
import type { Place } from './messages.js';

/** As docs/checkpoints.md has it: named after the event that began the log, or with which it went on as another one. */
const originOf = (hash: string): string => `data-platform-service/${hash}`;

/**
 * Is to be given every event in order, from the first one on: which log it is follows from them.
 * @param wanted positions; those that the log doesn't reach have no place
 */
export function createSealView(wanted: readonly number[]): { add(event: EventRecord): void; places(): Place[] } {
  const asked = new Set(wanted);
  const places: Place[] = [];
  let origin = '';
  return {
    add({ position, type, hash, subject }) {
      if (position === 1 || (type === 'log.acknowledged' && subject?.kind === 'log')) origin = originOf(hash);
      if (asked.has(position)) places.push({ position, hash, origin });
    },
    places: () => places,
  };
}
