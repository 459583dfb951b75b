import { Accordion, SimpleGrid, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { useFormState } from 'react-hook-form';
import { memberText, type Member, type Section } from './members.js';
import { type Choices, MemberInput } from './member-input.js';

interface Props {
  sections: readonly Section[];
  choices: Choices;
  open: string[];
  onOpen: (open: string[]) => void;
  /** Shown before the first section. */
  children?: ReactNode;
}

/**
 * Shows the sections. A section with an error is always open.
 * @param props.open the titles of open sections, with hyphens instead of spaces
 * @param props.onOpen called with all open sections
 */
export function Sections({ sections, choices, open, onOpen, children }: Props) {
  const { errors } = useFormState();
  const wrong = sections.filter(({ members }) => members.some(({ path }) => hasError(errors, path)));
  const shown = [...new Set([...open, ...wrong.map(({ title }) => idOf(title))])];
  return (
    <Accordion multiple value={shown} onChange={onOpen} variant="separated" chevronPosition="left">
      {children}
      {sections.map(({ title, members }) => (
        <Accordion.Item key={title} value={idOf(title)}>
          <Accordion.Control>{memberText(title)}</Accordion.Control>
          <Accordion.Panel>
            <Members members={members} choices={choices} />
          </Accordion.Panel>
        </Accordion.Item>
      ))}
    </Accordion>
  );
}

/** Returns the title with hyphens, because it becomes part of an id, which must not contain spaces. */
const idOf = (title: string): string => title.replaceAll(' ', '-');

function hasError(errors: object, path: string): boolean {
  let at: unknown = errors;
  for (const step of path.split('.')) at = (at as Record<string, unknown> | undefined)?.[step];
  return at !== undefined;
}

const NARROW = new Set(['choice', 'number', 'field', 'alias', 'collection', 'color', 'icon', 'flag']);

/** Must be inside a form. Small inputs that follow each other share a row. */
export function Members({ members, choices }: { members: readonly Member[]; choices: Choices }) {
  const isNarrow = ({ kind }: Member) => NARROW.has(kind);
  return (
    <Stack gap="md">
      {runsOf(members, isNarrow).map((run) =>
        run.every(isNarrow) ? (
          <SimpleGrid key={run[0]?.path} cols={{ base: 1, xs: 2 }} spacing="md" verticalSpacing="md">
            {run.map((member) => (
              <MemberInput key={member.path} member={member} choices={choices} />
            ))}
          </SimpleGrid>
        ) : (
          run.map((member) => <MemberInput key={member.path} member={member} choices={choices} />)
        ),
      )}
    </Stack>
  );
}

/** Groups consecutive items that are alike. */
function runsOf<T>(items: readonly T[], alike: (item: T) => boolean): T[][] {
  const runs: T[][] = [];
  for (const item of items) {
    const last = runs.at(-1);
    if (last?.[0] !== undefined && alike(last[0]) === alike(item)) last.push(item);
    else runs.push([item]);
  }
  return runs;
}
