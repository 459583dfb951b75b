/** Adds new changes at the top only while the user has not scrolled down. */
import { useEffect, useState } from 'react';
import type { Batch } from '../../service/types.js';

/** Pixels that count as the top. */
const TOP = 40;

interface Settled {
  shown: readonly Batch[];
  /** The number of held back changes. */
  fresh: number;
  show: () => void;
}

/**
 * @param batches newest first
 * @param isReading whether a change is open, so that nothing moves
 * @returns all of them at first; later ones are held back until `show`, or until the page is at its top
 */
export function useSettled(batches: readonly Batch[], isReading: boolean): Settled {
  const newest = batches[0]?.last_position ?? 0;
  const [held, setHeld] = useState(newest);
  useEffect(() => {
    if (newest > held && !isReading && isAtTop()) setHeld(newest);
  }, [newest, held, isReading]);
  // Another filter may end before the shown ones.
  const upTo = Math.min(held, newest);
  const shown = newest > held ? batches.filter(({ last_position: last }) => last <= upTo) : batches;
  // Otherwise a filter without older matches would leave the page empty.
  const isAll = shown.length === 0;
  return {
    shown: isAll ? batches : shown,
    fresh: isAll ? 0 : batches.length - shown.length,
    show: () => {
      setHeld(newest);
      document.getElementById('page')?.scrollTo({ top: 0 });
    },
  };
}

const isAtTop = (): boolean => (document.getElementById('page')?.scrollTop ?? 0) < TOP;
