/** Shows conflicts with three values each and a choice. */
import { Button, Radio } from '@mantine/core';
import { useState } from 'react';
import { abbreviate } from '../text.js';
import type { Choice, ShownConflict } from './shown-conflict.js';
import classes from './conflicts.module.css';
import { locale } from '../language.js';
import { messages } from '../messages.js';

interface Props {
  of: readonly ShownConflict[];
  /** Controls how many conflicts are shown. */
  shown: VisibleConflicts;
  choiceOf: (key: string) => Choice | null;
  onChoose: (key: string, choice: Choice) => void;
  /** Labels of the sides. */
  words?: Readonly<Record<Choice, string>>;
}

/** Number of conflicts that are shown at once, because many are slow to render. */
const PAGE = 50;

export interface VisibleConflicts {
  count: number;
  more: () => void;
}

/** Returns how many conflicts are shown: fifty at first, and fifty more after each click. */
export function useShown(): VisibleConflicts {
  const [count, setCount] = useState(PAGE);
  return { count, more: () => setCount(count + PAGE) };
}

const WORDS = { theirs: messages.conflicts.theirs, mine: messages.conflicts.mine };

/** @param props.choiceOf returns null for an undecided conflict */
export function Conflicts({ of, shown, choiceOf, onChoose, words = WORDS }: Props) {
  const left = of.length - shown.count;
  return (
    <>
      {of.slice(0, shown.count).map((conflict) => (
        <ConflictChoice
          key={conflict.key}
          conflict={conflict}
          words={words}
          choice={choiceOf(conflict.key)}
          onChoose={(choice) => onChoose(conflict.key, choice)}
        />
      ))}
      {left > 0 && (
        <Button variant="default" size="xs" mt="sm" onClick={shown.more}>
          {messages.conflicts.showMore(String(Math.min(PAGE, left)), left.toLocaleString(locale))}
        </Button>
      )}
    </>
  );
}

interface OneProps {
  conflict: ShownConflict;
  words: Readonly<Record<Choice, string>>;
  choice: Choice | null;
  onChoose: (choice: Choice) => void;
}

function ConflictChoice({ conflict, words, choice, onChoose }: OneProps) {
  const { base, theirs, mine, why } = conflict;
  return (
    <Radio.Group
      mt="xs"
      label={nameOf(conflict)}
      {...(why !== undefined && { description: abbreviate(why, 300) })}
      value={choice}
      onChange={onChoose}
    >
      <div className={classes.three}>
        <span>
          <span className={classes.side}>{messages.conflicts.original}</span>
          <bdi>{abbreviate(base, 160)}</bdi>
        </span>
        <Radio value="theirs" label={`${words.theirs}: ${abbreviate(theirs, 160)}`} />
        <Radio value="mine" label={`${words.mine}: ${abbreviate(mine, 160)}`} />
      </div>
    </Radio.Group>
  );
}

function nameOf({ name, path }: ShownConflict): string {
  return path.length === 0 ? name : `${name}, ${path.join('.')}`;
}
