import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ChangeObject, diffLines } from 'diff';
import { useMemo } from 'react';
import { pastScriptQuery } from '../../service/history-queries.js';
import { ProblemAlert } from '../../shared/problem-alert.js';
import { Waiting } from '../../shared/waiting.js';
import classes from './sql-difference.module.css';

/** Milliseconds until the comparison gives up. */
const LONGEST = 2_000;

/** Unchanged lines shown around a change. */
const AROUND = 3;

/**
 * Shows a message for equal texts, and for those that take longer than two seconds to compare.
 * @param props.from positions, times or `now`; `to` too
 */
export function SqlDifference({ from, to }: { from: string; to: string }) {
  const before = useQuery(pastScriptQuery(from));
  const after = useQuery(pastScriptQuery(to));
  const parts = useMemo(
    () => (before.data === undefined || after.data === undefined ? null : difference(before.data, after.data)),
    [before.data, after.data],
  );
  const error = before.error ?? after.error;
  if (error !== null) return <ProblemAlert error={error} />;
  if (parts === null) return <Waiting label="Comparing" height="160px" />;
  if (parts === undefined)
    return <Text>The scripts differ too much for a line-by-line comparison. Download both as files instead.</Text>;
  if (!parts.some(isChange)) return <Text c="dimmed">The scripts are identical.</Text>;
  return (
    <pre className={classes.script} tabIndex={0} aria-label="Difference as SQL">
      {parts.map((part, index) => (
        // oxlint-disable-next-line
        <Part key={index} part={part} />
      ))}
    </pre>
  );
}

const difference = (before: string, after: string): ChangeObject<string>[] | undefined =>
  diffLines(before, after, { timeout: LONGEST });

const isChange = ({ added, removed }: ChangeObject<string>): boolean => added || removed;

function Part({ part }: { part: ChangeObject<string> }) {
  if (part.added) return <ins className={classes.added}>{marked(part.value, '+ ')}</ins>;
  if (part.removed) return <del className={classes.removed}>{marked(part.value, '− ')}</del>;
  return <span className={classes.same}>{marked(shortened(part.value), '  ')}</span>;
}

const marked = (text: string, mark: string): string =>
  linesOf(text)
    .map((line) => `${mark}${line}\n`)
    .join('');

function shortened(text: string): string {
  const lines = linesOf(text);
  if (lines.length <= 2 * AROUND + 1) return text;
  return [...lines.slice(0, AROUND), '⋯', ...lines.slice(-AROUND)].join('\n');
}

const linesOf = (text: string): string[] => (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
