/** What this tab has applied last: on every page a way back stands open for a while. */
import { useSyncExternalStore } from 'react';
import { currentUserId, whenUserChanges } from '../service/session.js';

export interface LastApplied {
  batch: string;
  /** The position before it: where going back leads. */
  before: number;
  /** Deleted rows or values are not in the trash. */
  isDataLost: boolean;
}

export const DATA_LOST = 'Some of the deleted data is not in the trash and cannot be restored.';

/** Milliseconds for which it is offered. */
const OFFERED = 10 * 60_000;

let last: LastApplied | null = null;
let ending: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();

/**
 * @param next null: it is not offered any more
 * @param user who did it: it is offered to nobody else
 */
export function noteApplied(next: LastApplied | null, user = currentUserId()): void {
  if (user !== currentUserId()) return;
  clearTimeout(ending);
  if (next !== null) ending = setTimeout(() => noteApplied(null), OFFERED);
  last = next;
  for (const listener of listeners) listener();
}

whenUserChanges(() => noteApplied(null));

/** Null: nothing of late, dismissed, or done by another user. */
export const useLastApplied = (): LastApplied | null =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => last,
  );
