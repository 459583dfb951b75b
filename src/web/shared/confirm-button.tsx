/** A button that asks once more, in its own place, before it does what can't be taken back. */
import type { ButtonProps } from '@mantine/core';
import { useState } from 'react';
import { SteadyButton } from './steady-button.js';

interface Props extends ButtonProps {
  /** What it is called, and what the second click says. */
  label: string;
  /** null: there is nothing to ask. */
  sure: string | null;
  /** What it is about, where that isn't seen beside it. */
  about?: string;
  onConfirm: () => void;
}

/**
 * The question is taken back when the keyboard goes elsewhere.
 * @param props.onConfirm called by the second click; by the first where `sure` is null
 */
export function ConfirmButton({ label, sure, about, onConfirm, ...looks }: Props) {
  const [isAsked, setAsked] = useState(false);
  const isAsking = isAsked && sure !== null;
  const says = isAsking ? sure : label;
  return (
    <SteadyButton
      variant={isAsking ? 'filled' : 'default'}
      {...(isAsking && { color: 'red.8' })}
      {...looks}
      {...(about !== undefined && { 'aria-label': `${says}: ${about}` })}
      onClick={({ detail: clicks }) => {
        // Who clicks twice out of habit hasn't read the question yet.
        if (sure !== null && clicks > 1) return;
        if (isAsking || sure === null) onConfirm();
        else setAsked(true);
      }}
      // Nor has who holds the key down.
      onKeyDown={(event) => event.repeat && event.preventDefault()}
      onBlur={() => setAsked(false)}
    >
      {says}
    </SteadyButton>
  );
}
