/** What was typed beside a review, kept for this tab and its user: a reload loses nothing. */
import { currentUserId } from '../../service/session.js';

export interface Typed {
  /** null: it follows the changes. */
  reason: string | null;
  leftOut: readonly string[];
}

const NOTHING: Typed = { reason: null, leftOut: [] };

const nameOf = (source: string): string => `dps.review ${currentUserId()} ${source}`;

/**
 * Nothing was typed, or it can't be read: the reason follows the changes, and nothing is left out.
 * @param source its `key`
 */
export function readTyped(source: string): Typed {
  try {
    const found = JSON.parse(sessionStorage.getItem(nameOf(source)) ?? 'null') as Partial<Typed> | null;
    if (found === null) return NOTHING;
    const { reason, leftOut } = found;
    return {
      reason: typeof reason === 'string' ? reason : null,
      leftOut: Array.isArray(leftOut) ? leftOut.filter((each) => typeof each === 'string') : [],
    };
  } catch {
    return NOTHING;
  }
}

/**
 * Takes the place of what was kept for this source. Where the browser has no room nothing is kept, and nothing is
 * thrown.
 */
export function keepTyped(source: string, typed: Typed): void {
  try {
    sessionStorage.setItem(nameOf(source), JSON.stringify(typed));
  } catch {
    // Without room it is kept in memory alone.
  }
}

/** For what was carried out: the next review of this source begins with nothing. */
export const forgetTyped = (source: string): void => sessionStorage.removeItem(nameOf(source));
