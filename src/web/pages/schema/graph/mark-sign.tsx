import type { Mark } from './graph.js';
import classes from './mark-sign.module.css';

const SIGNS: Readonly<Record<Mark, string>> = {
  made: '+',
  changed: '~',
  removed: '−',
  drift: '!',
  prepared: '…',
  indexing: '#',
};
export const MARK_WORDS: Readonly<Record<Mark, string>> = {
  made: 'new',
  changed: 'changed',
  removed: 'deleted',
  drift: 'differs in the database',
  prepared: 'online change in progress',
  indexing: 'creating index',
};

/** Shows a tooltip and a label for screen readers. */
export function MarkSign({ mark }: { mark: Mark }) {
  return (
    <span className={classes.sign} data-mark={mark} role="img" aria-label={MARK_WORDS[mark]} title={MARK_WORDS[mark]}>
      {SIGNS[mark]}
    </span>
  );
}
