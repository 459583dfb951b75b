/** Jumps to the last change before a selected time. */
import { TextInput } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { batchAt } from '../../../service/film-queries.js';
import { isoOf, localOf } from '../../../shared/local-time.js';
import classes from './film-bar.module.css';

interface Props {
  /** ISO 8601; undefined before the first event. */
  at: string | undefined;
  onGo: (position: number) => void;
}

/**
 * Jumps on Enter and on blur. Shows errors at the input.
 * @param props.onGo called with the position of that change; 0 if there is none before
 */
export function GoToTime({ at, onGo }: Props) {
  const [problem, setProblem] = useState<string | null>(null);
  const shown = at === undefined ? '' : localOf(at);
  const asked = useRef('');
  /** The pending request; replaced when the user moves on. */
  const going = useRef<object>(null);
  useEffect(() => () => void (going.current = null), [at]);
  const go = async (local: string): Promise<void> => {
    const until = isoOf(local);
    if (until === null) return;
    asked.current = local;
    const mine = {};
    going.current = mine;
    setProblem(null);
    try {
      const batch = await batchAt(until);
      if (going.current === mine) onGo(batch?.last_position ?? 0);
    } catch (error) {
      if (going.current === mine) setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <TextInput
      key={at}
      type="datetime-local"
      size="xs"
      className={classes.time ?? ''}
      aria-label="Go to date and time"
      title="Go to this date and time"
      defaultValue={shown}
      error={problem}
      onKeyDown={(event) => event.key === 'Enter' && void go(event.currentTarget.value)}
      onBlur={({ currentTarget: { value } }) => value !== shown && value !== asked.current && void go(value)}
    />
  );
}
