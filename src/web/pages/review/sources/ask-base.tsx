/**
 * A file name tells when the file was made, but not from which schema. The user is asked if others changed the schema
 * since.
 */
import { Button, Paper, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { sinceThenQuery } from '../../../service/review-queries.js';
import { ChangeList } from '../../../shared/changes/change-list.js';
import { changesOf } from '../../../shared/changes/sentences.js';
import { Page } from '../../../shared/page.js';
import { useTitle } from '../../../shared/page-title.js';
import { Section } from '../../../shared/section.js';
import { Waiting } from '../../../shared/waiting.js';
import { type Base, NOW } from './made-from.js';
import { STILL, momentText } from './past-source.js';

interface Props {
  /** The file name. */
  name: string;
  /** ISO 8601, from the file name. */
  named: string;
  onChoose: (base: Base) => void;
  /** The comparison with the current schema, which is the same without concurrent changes. */
  children: ReactNode;
}

/** Changes shown below the question. */
const AT_FIRST = 20;

export function AskBase({ name, named, onChoose, children }: Props) {
  useTitle(`${name} · Review`);
  const { data: diff, error } = useQuery({ ...STILL, ...sinceThenQuery(named) });
  // If it cannot be read, the comparison shows the error.
  if (error !== null) return children;
  const changes = diff && changesOf(diff);
  if (changes?.length === 0) return children;
  return (
    <Page>
      <Title order={1} size="h3" mb="lg">
        <bdi>{name}</bdi>
      </Title>
      {changes === undefined ? (
        <Waiting label="Loading later changes" height="240px" />
      ) : (
        <Stack gap="lg">
          <Text>
            The file name is dated {momentText(named)}. {countText(changes.length)} since then. Which schema was the
            file created from?
          </Text>
          <Answer
            label="This schema, at that time"
            about="Later changes are kept. If the file changes the same values, you choose."
            onChoose={() => onChoose(named)}
          />
          <Answer
            label="The schema of another environment"
            about="The whole file is compared with the current schema. Later changes that differ from the file are reverted. Choose this also to restore an old state."
            onChoose={() => onChoose(NOW)}
          />
          <Section title="Later changes">
            <ChangeList changes={changes} first={AT_FIRST} />
          </Section>
        </Stack>
      )}
    </Page>
  );
}

const countText = (count: number): string =>
  count === 1 ? 'One object has changed' : `${count.toLocaleString()} objects have changed`;

function Answer({ label, about, onChoose }: { label: string; about: string; onChoose: () => void }) {
  return (
    <Paper p="md" radius="md" withBorder>
      <Button variant="default" onClick={onChoose}>
        {label}
      </Button>
      <Text size="sm" c="dimmed" mt="xs">
        {about}
      </Text>
    </Paper>
  );
}
