import type { ChangedBatch } from '../../../service/types.js';
import { type Moment, stepTo } from './moment.js';

/** The cache limit; states share most of their documents. */
const KEPT = 80;

export interface Reel {
  /** Adds a known state. */
  add(moment: Moment): void;
  /** The state after a batch; `index` -1: before the first. Null if it cannot be derived and must be read. */
  at(frames: readonly ChangedBatch[], index: number): Moment | null;
}

/** The position after the batch at `index`; outside the list, that before the first; 0 without batches. */
export const positionAt = (frames: readonly ChangedBatch[], index: number): number =>
  frames[index]?.last_position ?? (frames[0] === undefined ? 0 : frames[0].first_position - 1);

/** Derives neighbours from added states. Keeps the eighty most recently used. */
export function createReel(): Reel {
  const kept = new Map<number, Moment>();

  const keep = (moment: Moment): Moment => {
    kept.delete(moment.position);
    kept.set(moment.position, moment);
    for (const position of kept.keys()) {
      if (kept.size <= KEPT) break;
      kept.delete(position);
    }
    return moment;
  };

  /** Steps batch by batch in either direction; null if a batch lacks its changes. */
  const walk = (frames: readonly ChangedBatch[], from: number, to: number): Moment | null => {
    const [side, by] = from < to ? (['after', 1] as const) : (['before', -1] as const);
    let moment = kept.get(positionAt(frames, from)) ?? null;
    for (let index = from; index !== to && moment !== null; index += by) {
      const changes = frames[side === 'after' ? index + 1 : index]?.changes ?? null;
      const position = positionAt(frames, index + by);
      moment = changes && keep(stepTo(side, { moment, changes, position }));
    }
    return moment;
  };

  const isKept = (frames: readonly ChangedBatch[], index: number): boolean =>
    index >= -1 && index < frames.length && kept.has(positionAt(frames, index));

  return {
    add: (moment) => void keep(moment),
    at(frames, index) {
      for (let distance = 0; distance <= frames.length; distance++) {
        for (const from of [index - distance, index + distance]) {
          const found = isKept(frames, from) ? walk(frames, from, index) : null;
          if (found !== null) return keep(found);
        }
      }
      return null;
    },
  };
}

/** The batch of a position; -1 before the first; undefined if it is not loaded. */
export function indexAt(frames: readonly ChangedBatch[], position: number): number | undefined {
  if (position === positionAt(frames, -1)) return -1;
  const index = frames.findIndex(({ last_position: last }) => position <= last);
  return index < 0 || position < positionAt(frames, -1) ? undefined : index;
}
