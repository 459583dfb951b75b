/** Members in their sections. What is seldom said is folded away until it is wanted, or wrong. */
import { Accordion, SimpleGrid, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { useFormState } from 'react-hook-form';
import type { Choices } from './input-props.js';
import { MemberInput } from './member-input.js';
import type { Member, Section } from './members.js';

interface Props {
  sections: readonly Section[];
  choices: Choices;
  open: string[];
  onOpen: (open: string[]) => void;
  /** Before the first. */
  children?: ReactNode;
}

/**
 * A section with something wrong in it is open whatever `open` says.
 * @param props.open titles, with hyphens for spaces
 * @param props.onOpen called with all that are open now
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
          <Accordion.Control>{title}</Accordion.Control>
          <Accordion.Panel>
            <Members members={members} choices={choices} />
          </Accordion.Panel>
        </Accordion.Item>
      ))}
    </Accordion>
  );
}

/** It becomes part of an id, which has no spaces. */
const idOf = (title: string): string => title.replaceAll(' ', '-');

function hasError(errors: object, path: string): boolean {
  let at: unknown = errors;
  for (const step of path.split('.')) at = (at as Record<string, unknown> | undefined)?.[step];
  return at !== undefined;
}

const NARROW = new Set(['choice', 'number', 'field', 'alias', 'collection', 'color', 'icon', 'flag']);

/** Inside a form. Neighbours that need little room stand in two columns. */
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

/** Neighbours that are alike, together. */
function runsOf<T>(items: readonly T[], alike: (item: T) => boolean): T[][] {
  const runs: T[][] = [];
  for (const item of items) {
    const last = runs.at(-1);
    if (last?.[0] !== undefined && alike(last[0]) === alike(item)) last.push(item);
    else runs.push([item]);
  }
  return runs;
}
