/** Moments at hand: from one that was read, its neighbours follow by what batches changed. */
import type { ChangedBatch } from '../../../service/types.js';
import { type Moment, stepTo } from './moment.js';

/** More than these aren't kept: they share most of their documents. */
const KEPT = 80;

export interface Reel {
  /** What is known already. */
  add(moment: Moment): void;
  /** The moment behind a batch; `index` -1: before the first. Null: nothing leads there, it has to be read. */
  at(frames: readonly ChangedBatch[], index: number): Moment | null;
}

/** The last of the batch at `index`; beside the frames, that before the first of them; 0 where there are none. */
export const positionAt = (frames: readonly ChangedBatch[], index: number): number =>
  frames[index]?.last_position ?? (frames[0] === undefined ? 0 : frames[0].first_position - 1);

/** Empty: of moments that were added, the neighbours are worked out. The eighty that were asked for last are kept. */
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

  /** Goes on batch by batch, in either direction; null where a batch doesn't say what it changed. */
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

/** The batch that a position is of; -1: before the first; undefined: it isn't among them. */
export function indexAt(frames: readonly ChangedBatch[], position: number): number | undefined {
  if (position === positionAt(frames, -1)) return -1;
  const index = frames.findIndex(({ last_position: last }) => position <= last);
  return index < 0 || position < positionAt(frames, -1) ? undefined : index;
}
