import type { ReactNode } from 'react';
import classes from './page.module.css';

/** @param props.wide for wide tables */
export function Page({ wide = false, children }: { wide?: boolean; children: ReactNode }) {
  return (
    <div className={classes.page} data-wide={wide || undefined}>
      {children}
    </div>
  );
}
