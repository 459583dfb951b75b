/** The last apply of this tab, for a temporary undo on every page. */
import { useSyncExternalStore } from 'react';
import { currentUserId, onUserChange } from '../service/session.js';
import { messages } from './messages.js';

export interface LastApplied {
  batch: string;
  before: number;
  /** The position after the change. */
  after: number;
  /** True if rows or values are permanently deleted. */
  isDataLost: boolean;
}

export const DATA_LOST = messages.applied.dataLost;

/** Milliseconds for which undo is offered. */
const OFFERED = 10 * 60_000;

let last: LastApplied | null = null;
let ending: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();

/**
 * Offers to undo an apply.
 * @param next null ends the offer
 * @param user the only user who gets the offer
 */
export function noteApplied(next: LastApplied | null, user = currentUserId()): void {
  if (user !== currentUserId()) return;
  clearTimeout(ending);
  if (next !== null) ending = setTimeout(() => noteApplied(null), OFFERED);
  last = next;
  for (const listener of listeners) listener();
}

onUserChange(() => noteApplied(null));

/** Returns the last apply. Null without a recent apply, after it was dismissed, or for another user. */
export const useLastApplied = (): LastApplied | null =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => last,
  );
