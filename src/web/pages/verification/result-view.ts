/** Collects the facts of a log that checkpoints need. */
import type { EventRecord } from '../../../log/read.js';
import type { CheckpointEvent } from './messages.js';

/**
 * The origin as docs/checkpoints.md defines it: named after the log's first event, or the event that acknowledged a
 * divergence.
 */
const originOf = (hash: string): string => `data-platform-service/${hash}`;

/**
 * Must receive every event in order from the first.
 * @param checkpointPositions positions; those beyond the log have no result
 */
export function createResultView(checkpointPositions: readonly number[]): {
  add(event: EventRecord): void;
  places(): CheckpointEvent[];
} {
  const expected = new Set(checkpointPositions);
  const places: CheckpointEvent[] = [];
  let origin = '';
  return {
    add({ position, type, hash, subject }) {
      if (position === 1 || (type === 'log.acknowledged' && subject?.kind === 'log')) origin = originOf(hash);
      if (expected.has(position)) places.push({ position, hash, origin });
    },
    places: () => places,
  };
}
