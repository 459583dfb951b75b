/** What comes late, an answer or a timer, leads on only who is still where it was asked for. */
import { useRouter } from '@tanstack/react-router';
import { useCallback, useLayoutEffect, useRef } from 'react';

/**
 * @returns whether the component is still shown, and nobody is on the way to another page: the page that one leaves stays
 * until the next one is loaded
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
