/** Gives the keyboard back to where it was, once a form beside the page is gone. */
import { useEffect } from 'react';
import { placeBefore } from '../shared/opener.js';

/** The kit does so for what is closed; what is taken away with its page's address is never told. */
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
