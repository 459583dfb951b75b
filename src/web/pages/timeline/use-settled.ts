/** What happens meanwhile comes at the top only while nobody reads further down. */
import { useEffect, useState } from 'react';
import type { Batch } from '../../service/types.js';

/** Pixels that are still the top. */
const TOP = 40;

interface Settled {
  shown: readonly Batch[];
  /** How many are held back. */
  fresh: number;
  show: () => void;
}

/**
 * @param batches the newest first
 * @param isReading a change is open: nothing moves it
 * @returns all of them at first; later ones are held back until `show`, or until the page is at its top
 */
export function useSettled(batches: readonly Batch[], isReading: boolean): Settled {
  const newest = batches[0]?.last_position ?? 0;
  const [held, setHeld] = useState(newest);
  useEffect(() => {
    if (newest > held && !isReading && isAtTop()) setHeld(newest);
  }, [newest, held, isReading]);
  // Another filter may end before what was shown.
  const upTo = Math.min(held, newest);
  const shown = newest > held ? batches.filter(({ last_position: last }) => last <= upTo) : batches;
  // A filter that fits nothing else would leave the page empty.
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
