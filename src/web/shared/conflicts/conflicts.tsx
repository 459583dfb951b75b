/** What two people changed otherwise: three values of each, and a choice. */
import { Radio } from '@mantine/core';
import { brief } from '../brief.js';
import type { Choice, ShownConflict } from './shown-conflict.js';
import classes from './conflicts.module.css';

interface Props {
  of: readonly ShownConflict[];
  choiceOf: (key: string) => Choice | null;
  onChoose: (key: string, choice: Choice) => void;
  /** What the sides are called. */
  words?: Readonly<Record<Choice, string>>;
}

/** More than anybody decides one by one. */
export const MOST_CONFLICTS = 50;

const WORDS = { theirs: 'Theirs', mine: 'Mine' };

export function Conflicts({ of, choiceOf, onChoose, words = WORDS }: Props) {
  return of.slice(0, MOST_CONFLICTS).map((conflict) => {
    const { key, base, theirs, mine, why } = conflict;
    return (
      <Radio.Group
        key={key}
        mt="xs"
        label={nameOf(conflict)}
        {...(why !== undefined && { description: brief(why, 300) })}
        value={choiceOf(key)}
        onChange={(choice) => onChoose(key, choice)}
      >
        <div className={classes.three}>
          <span>
            <span className={classes.side}>before both</span>
            <bdi>{brief(base, 160)}</bdi>
          </span>
          <Radio value="theirs" label={`${words.theirs}: ${brief(theirs, 160)}`} />
          <Radio value="mine" label={`${words.mine}: ${brief(mine, 160)}`} />
        </div>
      </Radio.Group>
    );
  });
}

function nameOf({ collection, field, path }: ShownConflict): string {
  const name = [collection, ...(field === null ? [] : [field])].join('.');
  return path.length === 0 ? name : `${name}, ${path.join('.')}`;
}
