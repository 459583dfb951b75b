/** What was typed beside a review, kept for this tab and its user: a reload loses nothing. */
import { currentUserId } from '../../service/session.js';

export interface Typed {
  /** null: it follows the changes. */
  reason: string | null;
  leftOut: readonly string[];
}

const NOTHING: Typed = { reason: null, leftOut: [] };

const nameOf = (source: string): string => `dps.review ${currentUserId()} ${source}`;

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

export function keepTyped(source: string, typed: Typed): void {
  try {
    sessionStorage.setItem(nameOf(source), JSON.stringify(typed));
  } catch {
    // Without room it is kept in memory alone.
  }
}

export const forgetTyped = (source: string): void => sessionStorage.removeItem(nameOf(source));
