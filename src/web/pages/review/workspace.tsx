import { Group, SegmentedControl, Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { ProblemAlert } from '../../shared/problem-alert.js';
import { infoQuery } from '../../service/queries.js';
import { type ApplyResult, sinceQuery } from '../../service/review-queries.js';
import { useMay } from '../../service/session.js';
import { conflictsOf, deletedCollections } from './model/items.js';
import { ActionBar } from './parts/action-bar.js';
import { ChangesPane, Counts, Outline } from './parts/changes-pane.js';
import { ConcurrentConflicts, ConcurrentChangesNote, NoChangesPage, ConflictChoices } from './parts/notes.js';
import { Risks } from './parts/risks.js';
import { type Source, type Review, useReview } from './use-review.js';
import classes from './review.module.css';
import type { SchemaDiff } from '../../service/types.js';
import { messages } from './messages.js';

const { workspace: texts } = messages;

/* Checks whether a diff is empty. */

/** True if the diff contains no items. A missing part counts as empty. */
const isEmptyDiff = ({ collections = [], fields = [], relations = [], objects = [] }: Partial<SchemaDiff>): boolean =>
  collections.length + fields.length + relations.length + objects.length === 0;

const PARTS = [
  { value: 'changes', label: messages.changes },
  { value: 'risks', label: texts.risks },
];

/**
 * Shows the review, or a message if there are no differences. After concurrent changes to the schema, the user must
 * review again before applying.
 */
export function Workspace({ source }: { source: Source }) {
  const navigate = useNavigate();
  const mayPropose = useMay('propose');
  const onDone = (applied: ApplyResult) => {
    if (applied.kind === 'opened') return navigate({ to: '/review', search: { change: applied.change.id } });
    return applied.batch === null
      ? navigate({ to: '/' })
      : navigate({ to: '/review', search: { done: applied.batch } });
  };
  const since = useSince(source);
  const review = useReview({ source, isBehind: since !== undefined, onDone });
  if (review.items.length === 0) return <NoChangesPage source={source} />;
  const deleted = deletedCollections(review.carriedOut).length;
  const held = since === undefined && !review.isStale ? null : texts.held;
  return (
    <div className={classes.review}>
      <header className={classes.header}>
        <Group gap="sm" wrap="nowrap">
          <h1 className={classes.title}>
            <bdi>{source.title}</bdi>
            {deleted > 0 && (
              <Text component="span" inherit c="var(--mantine-color-error)">
                {' '}
                {texts.deletes(deleted)}
              </Text>
            )}
          </h1>
          <Counts items={review.carriedOut} />
        </Group>
        <Text component="div" size="sm" c="dimmed" flex={1} miw={280}>
          {source.about}
        </Text>
      </header>
      <Notices source={source} review={review} since={since} />
      <Columns source={source} review={review} />
      {mayPropose ? (
        <ActionBar review={review} held={held} />
      ) : (
        <Text className={classes.readOnly} size="sm">
          {texts.readOnly}
        </Text>
      )}
    </div>
  );
}

interface PartProps {
  source: Source;
  review: Review;
}

function Notices({ source, review, since }: PartProps & { since: ReturnType<typeof useSince> }) {
  const { items, leftOut, leave, kept } = review;
  const { conflicts, renewal } = source;
  const continueReview = async (theirs: readonly string[]) => {
    review.carryOut.reset();
    review.rehearsal.reset();
    leave(theirs, true);
    await renewal.renew();
  };
  return (
    <div className={classes.notices}>
      {since !== undefined && (
        <ConcurrentConflicts
          since={since}
          conflicts={conflicts === undefined ? conflictsOf(items, since.diff) : []}
          isRenewing={renewal.isRenewing}
          onGoOn={(theirs) => void continueReview(theirs)}
        />
      )}
      {renewal.error !== null && <ProblemAlert error={renewal.error} retry={() => void renewal.renew()} />}
      {conflicts !== undefined && conflicts.length > 0 && <ConflictChoices conflicts={conflicts} />}
      {kept.length > 0 && <ConcurrentChangesNote keys={kept} leave={leave} leftOut={leftOut} />}
    </div>
  );
}

function Columns({ source, review }: PartProps) {
  const mayPropose = useMay('propose');
  const isNarrow = useMediaQuery('(max-width: 62em)');
  const [part, setPart] = useState('changes');
  const [wanted, setWanted] = useState<{ collection: string } | null>(null);
  const { items, groups, carriedOut, problems } = review;
  const changes = <ChangesPane review={review} canChoose={mayPropose} wanted={wanted} />;
  const risks = <Risks review={review} warnings={source.reviewed.warnings} />;
  if (isNarrow)
    return (
      <>
        <SegmentedControl
          className={classes.parts}
          role="radiogroup"
          aria-label={texts.view}
          data={PARTS}
          value={part}
          onChange={setPart}
        />
        <div className={classes.columns}>{part === 'changes' ? changes : risks}</div>
      </>
    );
  return (
    <div className={classes.columns}>
      <Outline
        items={items}
        groups={groups}
        carriedOut={carriedOut}
        problems={problems}
        onChoose={(collection) => setWanted({ collection })}
      />
      {changes}
      {risks}
    </div>
  );
}

/** Returns the concurrent schema changes since the source was read. Undefined if there are none. */
function useSince({ reviewed }: Source) {
  const { data: info } = useQuery(infoQuery());
  const isBehind = info !== undefined && info.position > reviewed.position && info.hash !== reviewed.hash;
  const { data } = useQuery(sinceQuery(reviewed.position, isBehind ? info.position : undefined, useMay('readHistory')));
  return !isBehind || data === undefined || isEmptyDiff(data.diff) ? undefined : data;
}
