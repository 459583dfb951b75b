/** A button in whose place a form opens: the keyboard goes with it, and back. */
import { Box } from '@mantine/core';
import { type ReactNode, type RefObject, useEffect, useRef, useState } from 'react';

interface Props {
  button: (place: RefObject<HTMLButtonElement | null>, open: () => void) => ReactNode;
  form: (close: () => void) => ReactNode;
}

/**
 * @param props.button to be given `place`, where the keyboard comes back to, and to call `open`
 * @param props.form to call `close`, whether something was sent or not
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
    // Who has gone on to something else meanwhile stays there.
    isLeft.current = holdsKeyboard(place.current);
    setOpen(false);
  };
  return isOpen ? <Box ref={place}>{form(close)}</Box> : button(opener, () => setOpen(true));
}

/** Null: there is none. */
export const firstInput = (within: HTMLElement | null): HTMLElement | null =>
  within?.querySelector<HTMLElement>('input, textarea, select') ?? null;

/** Also where nothing has it any more. */
function holdsKeyboard(place: HTMLElement | null): boolean {
  const { activeElement } = document;
  return activeElement === null || activeElement === document.body || place?.contains(activeElement) === true;
}

/** For what takes the place of what held the keyboard: its first input has it then. */
export function useKeyboard(place: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const { activeElement } = document;
    if (activeElement === null || activeElement === document.body)
      firstInput(place.current)?.focus({ preventScroll: true });
  }, [place]);
}
