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
          Nothing to change: the schema is as it is wanted.
        </Text>
        {warnings.length > 0 && (
          <List size="sm" spacing={4}>
            {warnings.slice(0, 100).map(({ code, collection, field, message }) => (
              <List.Item key={JSON.stringify([code, collection, field, message])}>{brief(message, 600)}</List.Item>
            ))}
          </List>
        )}
        <Button component={Link} to="/" variant="default">
          To the schema
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
  const what = keys.length === 1 ? 'One change of others is' : `${keys.length} changes of others are`;
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
            ? `${what} new since you looked, and left as they made it: not taken along below.`
            : 'What others changed since you looked is taken back along with the rest.'}
        </Text>
        <Button size="xs" variant="default" onClick={() => leave(keys, !isKept)}>
          {isKept ? 'Take it back as well' : 'Leave it as they made it'}
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
      title={
        conflicts.length === 1
          ? 'Somebody else has changed the same meanwhile'
          : `Somebody else has changed ${conflicts.length} of the same things meanwhile`
      }
    >
      <Text size="sm">Choose what it is to be. Until then yours is what is applied.</Text>
      <Conflicts of={conflicts} shown={useShown()} choiceOf={() => null} onChoose={settle} />
    </Alert>
  );
}
