/** A button that asks for confirmation in place before an irreversible action. */
import type { ButtonProps } from '@mantine/core';
import { useState } from 'react';
import { SteadyButton } from './steady-button.js';

interface Props extends ButtonProps {
  /** Its label, and the label of the confirmation. */
  label: string;
  /** Null: no confirmation. */
  sure: string | null;
  /** The object, if it is not visible beside it. */
  about?: string;
  onConfirm: () => void;
}

/**
 * Blur cancels the confirmation.
 * @param props.onConfirm called by the second click; by the first if `sure` is null
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
        // A double click must not confirm.
        if (sure !== null && clicks > 1) return;
        if (isAsking || sure === null) onConfirm();
        else setAsked(true);
      }}
      // Neither must a held key.
      onKeyDown={(event) => event.repeat && event.preventDefault()}
      onBlur={() => setAsked(false)}
    >
      {says}
    </SteadyButton>
  );
}
