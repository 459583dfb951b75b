/** The user resolves merge conflicts here, one by one or all alike. */
import { Alert, Button, Group, Text } from '@mantine/core';
import { useMemo, useRef, useState } from 'react';
import type { MergeConflict, Resolution } from '../../../schema/merge/model.js';
import { SteadyButton } from '../steady-button.js';
import { useKeyboard } from '../swapped-form.js';
import { Conflicts, useShown } from './conflicts.js';
import { decided, shownConflict } from './merge-conflicts.js';
import type { Choice } from './shown-conflict.js';

interface DecideProps {
  conflicts: readonly MergeConflict[];
  /** Earlier resolutions. */
  before: readonly Resolution[];
  /** The label of the other value: `as the request has it`. */
  mine: string;
  isBusy: boolean;
  onDecided: (resolutions: Resolution[]) => void;
}

/**
 * Continues when all are resolved.
 * @param props.onDecided called with earlier resolutions too
 */
export function Decide({ conflicts, before, mine, isBusy, onDecided }: DecideProps) {
  const [choices, setChoices] = useState<ReadonlyMap<string, Choice>>(new Map());
  const shown = useMemo(() => conflicts.map(shownConflict), [conflicts]);
  const choiceOf = (key: string): Choice | null => choices.get(key) ?? null;
  const chooseAll = (choice: Choice) => setChoices(new Map(shown.map(({ key }) => [key, choice])));
  const place = useRef<HTMLDivElement>(null);
  useKeyboard(place);
  const left = shown.filter(({ key }) => !choices.has(key)).length;
  return (
    <Alert
      ref={place}
      color="orange"
      variant="light"
      role="alert"
      c="var(--mantine-color-text)"
      title={titleFor(shown.length)}
    >
      <Text size="sm">Another user changed the same values. Choose which to use. Nothing is applied yet.</Text>
      <Conflicts
        of={shown}
        shown={useShown()}
        choiceOf={choiceOf}
        onChoose={(key, choice) => setChoices(new Map(choices).set(key, choice))}
        words={{ theirs: 'Current schema', mine: `${mine.charAt(0).toUpperCase()}${mine.slice(1)}` }}
      />
      <Group gap="sm" mt="md">
        <SteadyButton
          size="xs"
          loading={isBusy}
          disabled={left > 0}
          onClick={() => onDecided(decided(before, conflicts, choiceOf))}
        >
          {left > 0 ? `Continue (${left.toLocaleString()} to choose)` : 'Continue'}
        </SteadyButton>
        {shown.length > 1 && (
          <>
            <Button size="xs" variant="default" onClick={() => chooseAll('theirs')}>
              Use the current schema for all
            </Button>
            <Button size="xs" variant="default" onClick={() => chooseAll('mine')}>
              Use the {mine} for all
            </Button>
          </>
        )}
      </Group>
    </Alert>
  );
}

const titleFor = (count: number): string =>
  count === 1 ? '1 conflicting change' : `${count.toLocaleString()} conflicting changes`;
