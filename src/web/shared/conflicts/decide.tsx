/** The user resolves merge conflicts here, one by one or all alike. */
import { Alert, Button, Group, Text } from '@mantine/core';
import { useMemo, useRef, useState } from 'react';
import type { MergeConflict, Resolution, ConflictKind, MergeLocation } from '../../../schema/merge/model.js';
import { SteadyButton } from '../buttons.js';
import { useKeyboard } from '../form.js';
import { Conflicts, useShown } from './conflicts.js';
import type { Choice, ShownConflict } from './shown-conflict.js';
import { isObject, jsonEqual } from '../../../kernel/json.js';
import { ServiceError } from '../../service/send.js';
import { objectTitle, valueText } from '../changes/sentences.js';
import { locale } from '../language.js';
import { messages } from '../messages.js';

const words = messages.conflicts;

/* Merge conflicts from responses, and their resolutions. */

/** Returns the conflicts in an error. Null for other errors. */
export function conflictsIn(error: Error | null): MergeConflict[] | null {
  if (!(error instanceof ServiceError) || error.code !== 'MERGE_CONFLICT') return null;
  return error.problems.flatMap(({ message, extensions }) => {
    const { place, kind, base, ours, theirs } = extensions as unknown as MergeConflict;
    // A paginated error may end with text only.
    return isObject(place) ? [{ kind, place, message, base, ours, theirs }] : [];
  });
}

const keyOfPlace = ({ path = [], ...document }: MergeLocation): string => JSON.stringify([namesIn(document), path]);

/** Returns the names in a location: the kind of the document, and its identifying names. */
const namesIn = (location: MergeLocation): string[] =>
  location.part === 'objects'
    ? [location.kind, location.id]
    : [location.part, location.collection, ...(location.field === undefined ? [] : [location.field])];

/** `theirs` is the current value, and `ours` is the value in the merge. */
function shownConflict({ kind, place, message, base, ours, theirs }: MergeConflict): ShownConflict {
  const { path = [] } = place;
  const members = differingMembers([base, ours, theirs]);
  const word = (value: unknown): string =>
    path.length === 0 && isWhole(kind) ? presenceText(value) : membersText(value, members);
  return {
    key: keyOfPlace(place),
    name: place.part === 'objects' ? objectTitle(place) : namesIn(place).slice(1).join('.'),
    path,
    base: word(base),
    theirs: word(ours),
    mine: word(theirs),
    ...(kind !== 'changed' && { why: message }),
  };
}

/** True for kinds whose values are whole documents. The values of other kinds are names and members. */
const isWhole = (kind: ConflictKind): boolean => kind === 'removed' || kind === 'invalid' || kind === 'changed';

/** Returns the members that differ between the values. Null for values that are not objects. */
function differingMembers(values: readonly unknown[]): string[] | null {
  const objects = values.filter(isObject);
  if (objects.length < values.length) return null;
  const names = new Set(objects.flatMap((each) => Object.keys(each)));
  return [...names].filter((name) => !objects.every((each) => jsonEqual(each[name], objects[0]?.[name])));
}

const membersText = (value: unknown, members: readonly string[] | null): string =>
  members === null || !isObject(value)
    ? valueText(value)
    : members.map((name) => `${name} ${valueText(value[name])}`).join(', ');

const presenceText = (value: unknown): string =>
  value === undefined ? words.absent : isObject(value) ? words.present : valueText(value);

/** Combines earlier and new resolutions. */
function combineResolutions(
  before: readonly Resolution[],
  conflicts: readonly MergeConflict[],
  choiceOf: (key: string) => 'mine' | 'theirs' | null,
): Resolution[] {
  const now = conflicts.flatMap(({ place }): Resolution[] => {
    const choice = choiceOf(keyOfPlace(place));
    return choice === null ? [] : [{ place, take: choice === 'mine' ? 'theirs' : 'ours' }];
  });
  const keys = new Set(now.map(({ place }) => keyOfPlace(place)));
  return [...before.filter(({ place }) => !keys.has(keyOfPlace(place))), ...now];
}

interface DecideProps {
  conflicts: readonly MergeConflict[];
  /** Earlier resolutions. */
  before: readonly Resolution[];
  /** The origin of the other value. */
  mine: keyof typeof words.otherSide;
  isBusy: boolean;
  onDecided: (resolutions: Resolution[]) => void;
}

/**
 * Lets the user resolve conflicts, and continues when all are resolved.
 * @param props.onDecided called with all resolutions, including earlier ones
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
      title={words.title(shown.length)}
    >
      <Text size="sm">{words.explanation}</Text>
      <Conflicts
        of={shown}
        shown={useShown()}
        choiceOf={choiceOf}
        onChoose={(key, choice) => setChoices(new Map(choices).set(key, choice))}
        words={{ theirs: words.currentSchema, mine: words.otherSide[mine] }}
      />
      <Group gap="sm" mt="md">
        <SteadyButton
          size="xs"
          loading={isBusy}
          disabled={left > 0}
          onClick={() => onDecided(combineResolutions(before, conflicts, choiceOf))}
        >
          {left > 0 ? words.continueAfter(left.toLocaleString(locale)) : words.continue}
        </SteadyButton>
        {shown.length > 1 && (
          <>
            <Button size="xs" variant="default" onClick={() => chooseAll('theirs')}>
              {words.useCurrent}
            </Button>
            <Button size="xs" variant="default" onClick={() => chooseAll('mine')}>
              {words.useOther[mine]}
            </Button>
          </>
        )}
      </Group>
    </Alert>
  );
}
