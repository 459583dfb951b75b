/** Returns the focus after a form beside the page has closed. */
import { useEffect } from 'react';
import { placeBefore } from '../shared/opener.js';

/** The component library does this only for closed elements, not for those removed by a new address. */
export function useFocusBack(): void {
  useEffect(
    () => () => {
      setTimeout(() => {
        if (!holdsFocus()) placeBefore()?.focus({ preventScroll: true });
      });
    },
    [],
  );
}

const holdsFocus = (): boolean => document.activeElement !== null && document.activeElement !== document.body;
