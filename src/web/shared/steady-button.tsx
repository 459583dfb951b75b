/** A button that keeps the focus while it is loading or disabled; a `disabled` button would lose it. */
import { Button, type ButtonProps, Loader } from '@mantine/core';
import type { ComponentPropsWithoutRef } from 'react';
import classes from './steady-button.module.css';

export type SteadyButtonProps = ButtonProps & Omit<ComponentPropsWithoutRef<'button'>, keyof ButtonProps>;

/** While `loading` or `disabled`, `onClick` is not called and no form is submitted. */
export function SteadyButton({ loading = false, disabled = false, onClick, children, ...others }: SteadyButtonProps) {
  const isOff = loading || disabled;
  return (
    <Button
      {...others}
      {...attributesOf(loading, disabled)}
      onClick={(event) => {
        // Does not submit a form either.
        if (isOff) event.preventDefault();
        else onClick?.(event);
      }}
    >
      <span className={loading ? classes.behind : undefined}>{children}</span>
      {loading && <Loader size={18} color="currentColor" className={classes.loader ?? ''} aria-hidden="true" />}
    </Button>
  );
}

const attributesOf = (isBusy: boolean, isHeld: boolean) => ({
  'aria-disabled': isBusy || isHeld ? true : undefined,
  'aria-busy': isBusy ? true : undefined,
  'data-disabled': isHeld && !isBusy ? true : undefined,
});
