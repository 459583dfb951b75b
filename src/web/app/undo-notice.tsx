/** After something was applied: the way back, while it is cheap. */
import { Button, CloseButton, Text } from '@mantine/core';
import { Link, useLocation } from '@tanstack/react-router';
import { DATA_LOST, noteApplied, useLastApplied } from '../shared/applied.js';
import classes from './undo-notice.module.css';

/**
 * Nothing where this tab has applied nothing of late, where it was dismissed, and on the review, which says it itself.
 */
export function UndoNotice() {
  const applied = useLastApplied();
  // The review says it itself.
  const isReview = useLocation({ select: ({ pathname }) => pathname === '/review' });
  if (applied === null || isReview) return null;
  return (
    <section className={classes.notice} aria-label="Last change" role="status">
      <Text size="sm">
        Applied.{applied.isDataLost && ` ${DATA_LOST}`}{' '}
        <Link to="/review" search={{ done: applied.batch }}>
          What changed
        </Link>
      </Text>
      <Button
        size="xs"
        variant="default"
        renderRoot={(props) => <Link {...props} to="/review" search={{ to: applied.before }} />}
      >
        Undo …
      </Button>
      <CloseButton size="sm" aria-label="Dismiss" onClick={() => noteApplied(null)} />
    </section>
  );
}
