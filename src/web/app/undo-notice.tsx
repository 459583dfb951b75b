/** Offers to revert after an apply, while that is easy. */
import { Button, CloseButton, Text } from '@mantine/core';
import { Link, useLocation } from '@tanstack/react-router';
import { DATA_LOST, noteApplied, useLastApplied } from '../shared/applied.js';
import classes from './undo-notice.module.css';

/** Renders nothing without a recent apply in this tab, after dismissal, and on the review, which shows it itself. */
export function UndoNotice() {
  const applied = useLastApplied();
  // The review shows it itself.
  const isReview = useLocation({ select: ({ pathname }) => pathname === '/review' });
  if (applied === null || isReview) return null;
  return (
    <section className={classes.notice} aria-label="Last change" role="status">
      <Text size="sm">
        Applied.{applied.isDataLost && ` ${DATA_LOST}`}{' '}
        <Link to="/review" search={{ done: applied.batch }}>
          Show changes{' '}
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
