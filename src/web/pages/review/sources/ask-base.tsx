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
        <Waiting label="Reading what was changed since" height="240px" />
      ) : (
        <Stack gap="lg">
          <Text>
            Its name says {momentText(named)}. {countText(changes.length)} changed here since then. Which schema was it
            made from?
          </Text>
          <Answer
            label="From this one, as it was then"
            about="What was changed here since then stays. Where the file changes the same, you choose."
            onChoose={() => onChoose(named)}
          />
          <Answer
            label="From that of another environment"
            about="The whole file is compared with the schema as it is now: what was changed here since then, and the file has otherwise, is taken back. So it is where the file is an old state that you want again."
            onChoose={() => onChoose(NOW)}
          />
          <Section title="Changed here since then">
            <ChangeList changes={changes} first={AT_FIRST} />
          </Section>
        </Stack>
      )}
    </Page>
  );
}

const countText = (count: number): string => (count === 1 ? 'One thing was' : `${count.toLocaleString()} things were`);

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
