/** Concurrent schema changes and how to continue. */
import { Alert, Button, Collapse, Group, Text } from '@mantine/core';
import { useState } from 'react';
import type { Batch, SchemaDiff } from '../../../service/types.js';
import { brief } from '../../../shared/brief.js';
import { ChangeList } from '../../../shared/changes/change-list.js';
import { changesOf } from '../../../shared/changes/sentences.js';
import { Time } from '../../../shared/time.js';
import { Conflicts, useShown } from '../../../shared/conflicts/conflicts.js';
import type { Conflict } from '../model/conflicts.js';
import { SteadyButton } from '../../../shared/steady-button.js';
import classes from './parts.module.css';

interface Props {
  since: { diff: SchemaDiff; batches: readonly Batch[] };
  conflicts: readonly Conflict[];
  isRenewing: boolean;
  /** @param theirs the keys of items that stay as the others made them */
  onGoOn: (theirs: readonly string[]) => void;
}

/** Mine wins unless theirs is chosen. Continues after all conflicts were shown or resolved alike. */
export function Meanwhile({ since, conflicts, isRenewing, onGoOn }: Props) {
  const [theirs, setTheirs] = useState<ReadonlySet<string>>(new Set());
  const [isOpen, setOpen] = useState(false);
  const shown = useShown();
  /** Conflicts resolved alike, shown or not. */
  const [alike, setAlike] = useState('');
  const keys = conflicts.map(({ key }) => key);
  const together = keys.join('\n');
  const unseen = alike === together ? 0 : Math.max(0, keys.length - shown.count);
  const chooseAll = (isTheirs: boolean) => {
    setTheirs(new Set(isTheirs ? keys : []));
    setAlike(together);
  };
  const choose = (key: string, choice: string) => {
    const next = new Set(theirs);
    if (choice === 'theirs') next.add(key);
    else next.delete(key);
    setTheirs(next);
  };
  return (
    <Alert
      color="orange"
      variant="light"
      title="The schema has changed since you opened this review"
      role="alert"
      className={classes.meanwhile}
      classNames={{ title: classes.noticeTitle }}
    >
      {since.batches.slice(0, 3).map(({ batch, actor, summary, reason, occurred_at: at }) => (
        <Text size="sm" key={batch}>
          <strong>{actor.name}</strong>, <Time at={at} />: {brief(summary, 160)}
          {reason !== null && ` (${brief(reason, 160)})`}
        </Text>
      ))}
      {conflicts.length > 0 && (
        <Text size="sm" mt="xs">
          {conflicts.length === 1 ? '1 change conflicts' : `${conflicts.length.toLocaleString()} changes conflict`} with
          yours. Choose which value to use:
        </Text>
      )}
      <Conflicts
        of={conflicts}
        shown={shown}
        choiceOf={(key) => (theirs.has(key) ? 'theirs' : 'mine')}
        onChoose={choose}
      />
      <Group gap="sm" mt="sm">
        <SteadyButton size="xs" loading={isRenewing} disabled={unseen > 0} onClick={() => onGoOn([...theirs])}>
          {unseen > 0 ? `Continue (${unseen.toLocaleString()} not shown yet)` : 'Continue with the current schema'}
        </SteadyButton>
        {keys.length > 1 && (
          <>
            <Button size="xs" variant="default" onClick={() => chooseAll(true)}>
              Use all theirs
            </Button>
            <Button size="xs" variant="default" onClick={() => chooseAll(false)}>
              Use all mine
            </Button>
          </>
        )}
        <Button size="xs" variant="default" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Hide their changes' : 'Show their changes'}
        </Button>
      </Group>
      <Collapse expanded={isOpen}>
        {isOpen && (
          <div className={classes.theirs}>
            <ChangeList changes={changesOf(since.diff)} />
          </div>
        )}
      </Collapse>
    </Alert>
  );
}
