/** A button that keeps the keyboard: one that is `disabled` would lose it to nothing, while it waits and while it works. */
import { Button, type ButtonProps, Loader } from '@mantine/core';
import type { ComponentPropsWithoutRef } from 'react';
import classes from './steady-button.module.css';

export type SteadyButtonProps = ButtonProps & Omit<ComponentPropsWithoutRef<'button'>, keyof ButtonProps>;

export function SteadyButton({ loading = false, disabled = false, onClick, children, ...others }: SteadyButtonProps) {
  const isOff = loading || disabled;
  return (
    <Button
      {...others}
      {...(isOff && { 'aria-disabled': true })}
      {...(loading && { 'aria-busy': true })}
      {...(disabled && !loading && { 'data-disabled': true })}
      onClick={(event) => {
        // A form isn't sent by it either.
        if (isOff) event.preventDefault();
        else onClick?.(event);
      }}
    >
      <span className={loading ? classes.behind : undefined}>{children}</span>
      {loading && <Loader size={18} color="currentColor" className={classes.loader ?? ''} aria-hidden="true" />}
    </Button>
  );
}
