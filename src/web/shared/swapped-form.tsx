/** A button that is replaced by a form. The focus moves with it and back. */
import { Box } from '@mantine/core';
import { type ReactNode, type RefObject, useEffect, useRef, useState } from 'react';

interface Props {
  button: (place: RefObject<HTMLButtonElement | null>, open: () => void) => ReactNode;
  form: (close: () => void) => ReactNode;
}

/**
 * @param props.button receives `place`, to which the focus returns, and calls `open`
 * @param props.form calls `close`, whether something was sent or not
 */
export function SwappedForm({ button, form }: Props) {
  const [isOpen, setOpen] = useState(false);
  const opener = useRef<HTMLButtonElement>(null);
  const place = useRef<HTMLDivElement>(null);
  const isLeft = useRef(false);
  useEffect(() => {
    if (isOpen) firstInput(place.current)?.focus();
    else if (isLeft.current) opener.current?.focus();
    isLeft.current = false;
  }, [isOpen]);
  const close = () => {
    // Keeps the focus if the user has moved on.
    isLeft.current = holdsKeyboard(place.current);
    setOpen(false);
  };
  return isOpen ? <Box ref={place}>{form(close)}</Box> : button(opener, () => setOpen(true));
}

/** Null if there is none. */
export const firstInput = (within: HTMLElement | null): HTMLElement | null =>
  within?.querySelector<HTMLElement>('input, textarea, select') ?? null;

/** Also if nothing has the focus. */
function holdsKeyboard(place: HTMLElement | null): boolean {
  const { activeElement } = document;
  return activeElement === null || activeElement === document.body || place?.contains(activeElement) === true;
}

/** Focuses the first input of an element that replaced the focused one. */
export function useKeyboard(place: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const { activeElement } = document;
    if (activeElement === null || activeElement === document.body)
      firstInput(place.current)?.focus({ preventScroll: true });
  }, [place]);
}
