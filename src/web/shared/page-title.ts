/** The title of the page that is shown, said by the page itself. Text, whatever it holds. */
import { useEffect, useSyncExternalStore } from 'react';

let title = '';
const listeners = new Set<() => void>();

function become(next: string): void {
  title = next;
  for (const listener of listeners) listener();
}

/** Empty until the first page has said it. */
export const usePageTitle = (): string =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => title,
  );

/** To be called by every page. */
export function useTitle(next: string): void {
  useEffect(() => become(next), [next]);
}
