/** What of a log checkpoints are held against. */
import type { EventRecord } from '../../../log/read.js';
import type { Place } from './messages.js';

/** As docs/checkpoints.md has it: named after the event that began the log, or with which it went on as another one. */
const originOf = (hash: string): string => `data-platform-service/${hash}`;

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
