/** A button that asks once more, in its own place, before it does what can't be taken back. */
import { Button, type ButtonProps } from '@mantine/core';
import { useState } from 'react';

interface Props extends ButtonProps {
  /** What it is called, and what the second click says. */
  label: string;
  sure: string;
  /** What it is about, where that isn't seen beside it. */
  about?: string;
  onConfirm: () => void;
}

export function ConfirmButton({ label, sure, about, onConfirm, ...looks }: Props) {
  const [isAsked, setAsked] = useState(false);
  const says = isAsked ? sure : label;
  return (
    <Button
      variant={isAsked ? 'filled' : 'default'}
      {...(isAsked && { color: 'red.8' })}
      {...looks}
      {...(about !== undefined && { 'aria-label': `${says}: ${about}` })}
      onClick={() => (isAsked ? onConfirm() : setAsked(true))}
      onBlur={() => setAsked(false)}
    >
      {says}
    </Button>
  );
}
