/** The title of the page, set by each page. Rendered as text. */
import { useEffect, useSyncExternalStore } from 'react';

let title = '';
const listeners = new Set<() => void>();

function become(next: string): void {
  title = next;
  for (const listener of listeners) listener();
}

/** Empty before the first page has set it. */
export const usePageTitle = (): string =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => title,
  );

/** Call it in every page. */
export function useTitle(next: string): void {
  useEffect(() => become(next), [next]);
}
