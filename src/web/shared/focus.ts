/* Returns the focus to where it was, and notices whether the user is still on the page. */
import { useRouter } from '@tanstack/react-router';
import { useCallback, useLayoutEffect, useRef } from 'react';

/** The element that had the focus when a form was opened. */
let opener: HTMLElement | null = null;

/**
 * Remembers the element with the focus. For a menu item, this is the button of the menu, because the menu will be
 * closed.
 */
export function rememberOpener(): void {
  const { activeElement } = document;
  const button = activeElement?.closest('[role="menu"]')?.getAttribute('aria-labelledby');
  const place = button ? document.getElementById(button) : activeElement;
  opener = place instanceof HTMLElement && place !== document.body ? place : null;
}

/** Returns the remembered element, or the page if the element no longer exists. */
export const placeBefore = (): HTMLElement | null =>
  opener?.isConnected === true ? opener : document.getElementById('page');

/* Late responses and timers navigate only if the user is still on the page. */

/**
 * @returns whether the component is mounted and no navigation is pending: a page stays until the next one is loaded
 */
export function useHere(): () => boolean {
  const router = useRouter();
  const path = useRef<string>(undefined);
  useLayoutEffect(() => {
    path.current = router.history.location.pathname;
    return () => {
      path.current = undefined;
    };
  }, [router]);
  return useCallback(() => path.current === router.history.location.pathname, [router]);
}
