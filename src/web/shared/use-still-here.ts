/** Late responses and timers navigate only if the user is still on the page. */
import { useRouter } from '@tanstack/react-router';
import { useCallback, useLayoutEffect, useRef } from 'react';

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
