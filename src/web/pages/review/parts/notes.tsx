/* Messages about the review. */
import { Alert, Button, Group, List, Stack, Text, Title, Box, Collapse } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { UseQueryResult } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { abbreviate } from '../../../shared/text.js';
import { Page, useTitle } from '../../../shared/page.js';
import type { Source } from '../use-review.js';
import { Conflicts, useShown } from '../../../shared/conflicts/conflicts.js';
import classes from './parts.module.css';
import { ProblemAlert, LoadingIndicator } from '../../../shared/problem-alert.js';
import type { Batch, SchemaDiff } from '../../../service/types.js';
import { ChangeList } from '../../../shared/changes/change-list.js';
import { changesOf } from '../../../shared/changes/sentences.js';
import { Time } from '../../../shared/time.js';
import type { Conflict } from '../model/items.js';
import { SteadyButton } from '../../../shared/buttons.js';
import { actorName } from '../../../../schema/model/events.js';
import { messages } from '../messages.js';

const { notes: texts } = messages;

/* The frame of a loading or failed review, with its title. */

interface Props<T> {
  title: string;
  query: UseQueryResult<T>;
  label: string;
  /** Actions below an error. */
  below?: ReactNode;
  children: (data: T) => ReactNode;
}

/** Shows loaded content. It stays during a refetch, even if the refetch fails. */
export function Frame<T>({ title, query, label, below, children }: Props<T>) {
  const { data, error, refetch, isFetching } = query;
  useTitle(messages.titleOf(title));
  if (data !== undefined) return children(data);
  return (
    <Page>
      <Title order={1} size="h3" mb="lg">
        {title}
      </Title>
      {error === null || isFetching ? (
        <LoadingIndicator label={label} height="240px" />
      ) : (
        <Stack gap="md">
          <ProblemAlert error={error} retry={() => void refetch()} />
          <Box>{below}</Box>
        </Stack>
      )}
    </Page>
  );
}

/** Shown if the source contains no changes. */
export function NoChangesPage({ source }: { source: Source }) {
  const { warnings } = source.reviewed;
  return (
    <Page>
      <Stack gap="sm" align="flex-start">
        <Title order={1} size="h3">
          <bdi>{source.title}</bdi>
        </Title>
        <Text component="div" c="dimmed" size="sm">
          {source.about}
        </Text>
        <Text size="lg" fw={600} mt="md">
          {texts.noChanges}
        </Text>
        {warnings.length > 0 && (
          <List size="sm" spacing={4}>
            {warnings.slice(0, 100).map(({ code, collection, field, message }) => (
              <List.Item key={JSON.stringify([code, collection, field, message])}>{abbreviate(message, 600)}</List.Item>
            ))}
          </List>
        )}
        <Button component={Link} to="/" variant="default">
          {messages.openSchema}
        </Button>
      </Stack>
    </Page>
  );
}

interface LeftOutProps {
  keys: readonly string[];
  leftOut: ReadonlySet<string>;
  leave: (keys: readonly string[], isOut: boolean) => void;
}

/** Concurrent changes are kept unless the user decides otherwise. */
export function ConcurrentChangesNote({ keys, leftOut, leave }: LeftOutProps) {
  const isKept = keys.every((key) => leftOut.has(key));

  return (
    <Alert
      color="blue"
      variant="light"
      role="status"
      className={classes.meanwhile}
      classNames={{ title: classes.noticeTitle }}
    >
      <Group gap="sm" justify="space-between">
        <Text size="sm">{isKept ? texts.kept(keys.length) : texts.alsoReverts}</Text>
        <Button size="xs" variant="default" onClick={() => leave(keys, !isKept)}>
          {isKept ? texts.revertToo : texts.keepTheirs}
        </Button>
      </Group>
    </Alert>
  );
}

/** Shows conflicts with their three values and a choice. The user's own value is used until another one is chosen. */
export function ConflictChoices({ conflicts }: { conflicts: NonNullable<Source['conflicts']> }) {
  const settle = (key: string, choice: 'mine' | 'theirs') => conflicts.find((each) => each.key === key)?.settle(choice);
  return (
    <Alert
      color="orange"
      variant="light"
      role="alert"
      className={classes.meanwhile}
      classNames={{ title: classes.noticeTitle }}
      title={texts.conflicting(conflicts.length)}
    >
      <Text size="sm">{texts.aboutConflicts}</Text>
      <Conflicts of={conflicts} shown={useShown()} choiceOf={() => null} onChoose={settle} />
    </Alert>
  );
}

/* Concurrent schema changes and how to continue. */

interface OtherChangesProps {
  since: { diff: SchemaDiff; batches: readonly Batch[] };
  conflicts: readonly Conflict[];
  isRenewing: boolean;
  /** @param theirs the keys of items for which the concurrent change is kept */
  onGoOn: (theirs: readonly string[]) => void;
}

/**
 * The user's own value is used unless the other one is chosen. The user can continue after all conflicts were shown, or
 * were resolved together.
 */
export function ConcurrentConflicts({ since, conflicts, isRenewing, onGoOn }: OtherChangesProps) {
  const [theirs, setTheirs] = useState<ReadonlySet<string>>(new Set());
  const [isOpen, setOpen] = useState(false);
  const shown = useShown();
  /** The choice for all conflicts that are resolved together, shown or not. */
  const [alike, setAlike] = useState('');
  const keys = conflicts.map(({ key }) => key);
  const together = keys.join('\n');
  const unseen = alike === together ? 0 : Math.max(0, keys.length - shown.count);
  const chooseAll = (isTheirs: boolean) => {
    setTheirs(new Set(isTheirs ? keys : []));
    setAlike(together);
  };
  const choose = (key: string, choice: string) => {
    const next = new Set(theirs);
    if (choice === 'theirs') next.add(key);
    else next.delete(key);
    setTheirs(next);
  };
  return (
    <Alert
      color="orange"
      variant="light"
      title={texts.changed}
      role="alert"
      className={classes.meanwhile}
      classNames={{ title: classes.noticeTitle }}
    >
      {since.batches.slice(0, 3).map(({ batch, actor, summary, reason, occurred_at: at }) => (
        <Text size="sm" key={batch}>
          <strong>{actorName(actor)}</strong>, <Time at={at} />: {abbreviate(summary, 160)}
          {reason !== null && ` (${abbreviate(reason, 160)})`}
        </Text>
      ))}
      {conflicts.length > 0 && (
        <Text size="sm" mt="xs">
          {texts.chooseValues(conflicts.length)}
        </Text>
      )}
      <Conflicts
        of={conflicts}
        shown={shown}
        choiceOf={(key) => (theirs.has(key) ? 'theirs' : 'mine')}
        onChoose={choose}
      />
      <Group gap="sm" mt="sm">
        <SteadyButton size="xs" loading={isRenewing} disabled={unseen > 0} onClick={() => onGoOn([...theirs])}>
          {unseen > 0 ? texts.continueUnseen(unseen) : texts.continue}
        </SteadyButton>
        {keys.length > 1 && (
          <>
            <Button size="xs" variant="default" onClick={() => chooseAll(true)}>
              {texts.useTheirs}
            </Button>
            <Button size="xs" variant="default" onClick={() => chooseAll(false)}>
              {texts.useMine}
            </Button>
          </>
        )}
        <Button size="xs" variant="default" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? texts.hideTheirs : texts.showTheirs}
        </Button>
      </Group>
      <Collapse expanded={isOpen}>
        {isOpen && (
          <div className={classes.theirs}>
            <ChangeList changes={changesOf(since.diff)} />
          </div>
        )}
      </Collapse>
    </Alert>
  );
}
