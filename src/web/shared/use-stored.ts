/** Values that this browser stores for a user. Their names contain the id of the user, so they are deleted with drafts. */
import { useSyncExternalStore } from 'react';
import { currentUserId } from '../service/session.js';

const listeners = new Set<() => void>();

const keyOf = (name: string): string => `dps.${name}.${currentUserId()}`;

export function storeValue(name: string, value: string): void {
  localStorage.setItem(keyOf(name), value);
  for (const listener of listeners) listener();
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  // Other tabs of this browser.
  addEventListener('storage', listener);
  return () => {
    listeners.delete(listener);
    removeEventListener('storage', listener);
  };
}

/** Null if nothing is stored. */
export const useStored = (name: string): string | null =>
  useSyncExternalStore(listen, () => localStorage.getItem(keyOf(name)));
