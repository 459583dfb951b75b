import { currentUserId } from '../../service/session.js';

export interface Typed {
  /** Null: it follows the changes. */
  reason: string | null;
  leftOut: readonly string[];
}

const NOTHING: Typed = { reason: null, leftOut: [] };

const nameOf = (source: string): string => `dps.review ${currentUserId()} ${source}`;

/**
 * Without valid stored input, the reason follows the changes and everything is selected.
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

/** Replaces the stored input for this source. Ignores a full browser storage. */
export function keepTyped(source: string, typed: Typed): void {
  try {
    sessionStorage.setItem(nameOf(source), JSON.stringify(typed));
  } catch {
    // Without storage space it is kept in memory only.
  }
}

/** Called after an apply, so that the next review of this source starts fresh. */
export const forgetTyped = (source: string): void => sessionStorage.removeItem(nameOf(source));
