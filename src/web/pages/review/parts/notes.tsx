/** Messages about the review. */
import { Alert, Button, Group, List, Stack, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { brief } from '../../../shared/brief.js';
import { Page } from '../../../shared/page.js';
import type { Source } from '../source.js';
import { Conflicts, useShown } from '../../../shared/conflicts/conflicts.js';
import classes from './parts.module.css';

/** There is nothing to do. */
export function Same({ source }: { source: Source }) {
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
          No changes: the schema already matches.
        </Text>
        {warnings.length > 0 && (
          <List size="sm" spacing={4}>
            {warnings.slice(0, 100).map(({ code, collection, field, message }) => (
              <List.Item key={JSON.stringify([code, collection, field, message])}>{brief(message, 600)}</List.Item>
            ))}
          </List>
        )}
        <Button component={Link} to="/" variant="default">
          Open the schema
        </Button>
      </Stack>
    </Page>
  );
}

interface KeptProps {
  keys: readonly string[];
  leftOut: ReadonlySet<string>;
  leave: (keys: readonly string[], isOut: boolean) => void;
}

/** Concurrent changes are kept unless the user decides otherwise. */
export function Kept({ keys, leftOut, leave }: KeptProps) {
  const isKept = keys.every((key) => leftOut.has(key));
  const what = keys.length === 1 ? '1 new change by another user is' : `${keys.length} new changes by other users are`;
  return (
    <Alert
      color="blue"
      variant="light"
      role="status"
      className={classes.meanwhile}
      classNames={{ title: classes.noticeTitle }}
    >
      <Group gap="sm" justify="space-between">
        <Text size="sm">
          {isKept
            ? `${what} kept and not part of this review.`
            : 'This review also reverts the new changes by other users.'}
        </Text>
        <Button size="xs" variant="default" onClick={() => leave(keys, !isKept)}>
          {isKept ? 'Revert these too' : 'Keep their changes'}
        </Button>
      </Group>
    </Alert>
  );
}

/** Conflicts with three values and a choice. Mine wins until chosen. */
export function Settling({ conflicts }: { conflicts: NonNullable<Source['conflicts']> }) {
  const settle = (key: string, choice: 'mine' | 'theirs') => conflicts.find((each) => each.key === key)?.settle(choice);
  return (
    <Alert
      color="orange"
      variant="light"
      role="alert"
      className={classes.meanwhile}
      classNames={{ title: classes.noticeTitle }}
      title={conflicts.length === 1 ? '1 conflicting change' : `${conflicts.length} conflicting changes`}
    >
      <Text size="sm">
        Another user changed the same values. Choose which to use. Until you choose, your values are applied.
      </Text>
      <Conflicts of={conflicts} shown={useShown()} choiceOf={() => null} onChoose={settle} />
    </Alert>
  );
}
