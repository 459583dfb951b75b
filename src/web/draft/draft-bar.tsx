/* Shown at the bottom of every page while there is a draft. */
import draftIcon from 'icon:edit_note';
import undoIcon from 'icon:undo';
import { Button, Text, Badge } from '@mantine/core';
import { Link, useLocation } from '@tanstack/react-router';
import { ConfirmButton } from '../shared/buttons.js';
import { totalText } from '../shared/changes/total.js';
import { Glyph } from '../shared/glyph.js';
import { messages } from './messages.js';
import { changesIn, isEmpty } from './model.js';
import { discardDraft, undoEdit, useDraft } from './store.js';
import classes from './draft-bar.module.css';
import type { Mark } from './marked-documents.js';

const LOOKS = {
  made: { color: 'teal', label: messages.marks.made },
  changed: { color: 'orange', label: messages.marks.changed },
  renamed: { color: 'orange', label: messages.marks.renamed },
  removed: { color: 'red', label: messages.marks.removed },
} as const;

/** Renders nothing if the draft does not change the object. */
export function MarkBadge({ mark }: { mark: Mark | undefined }) {
  if (mark === undefined) return null;
  const { color, label } = LOOKS[mark];
  return (
    <Badge size="sm" variant="light" color={color} c="var(--mantine-color-text)" tt="none" title={messages.inDraft}>
      {label}
    </Badge>
  );
}

/**
 * Renders nothing for an empty draft. Warns if the browser cannot store the draft. On the review of the draft, there
 * is no link to it.
 */
export function DraftBar() {
  const { draft, isKept, canUndo } = useDraft();
  const isReviewed = useLocation({ select: ({ pathname, search }) => pathname === '/review' && search.draft === true });
  if (isEmpty(draft)) return null;
  return (
    <section className={classes.bar} aria-label={messages.title}>
      <Glyph path={draftIcon} size={22} />
      <div className={classes.text}>
        <Text size="sm" fw={600} role="status">
          {totalText(changesIn(draft))}
        </Text>
        <Text size="xs" className={classes.quiet}>
          {isKept ? messages.notApplied : messages.notStored}
        </Text>
      </div>
      {canUndo && (
        <Button
          variant="subtle"
          color="gray"
          size="sm"
          leftSection={<Glyph path={undoIcon} size={18} />}
          onClick={undoEdit}
          className={classes.quiet}
        >
          {messages.undo}
        </Button>
      )}
      <ConfirmButton label={messages.discard} sure={messages.discardAll} size="sm" onConfirm={discardDraft} />
      {!isReviewed && (
        <Button renderRoot={(props) => <Link {...props} to="/review" search={{ draft: true }} />} size="sm">
          {messages.review}
        </Button>
      )}
    </section>
  );
}
