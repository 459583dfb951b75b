/* Compares two texts by line. */
import { diffArrays } from 'diff';

interface DiffLine {
  /** A space for a line of both texts. */
  sign: ' ' | '-' | '+';
  text: string;
}

/** Comparing takes time that grows with the product of this number and the number of lines. */
const MOST_EDITS = 2_000;

/** Deleted lines come before added ones. Above `MOST_EDITS` edits, all lines are shown as replaced. */
export function lineDiff(before: string, after: string): DiffLine[] {
  const [old, now] = [before.split('\n'), after.split('\n')];
  const parts = diffArrays(old, now, { maxEditLength: MOST_EDITS });
  if (parts === undefined) return [...signLines('-', old), ...signLines('+', now)];
  return parts.flatMap(({ added, removed, value }) => signLines(added ? '+' : removed ? '-' : ' ', value));
}

const signLines = (sign: DiffLine['sign'], lines: readonly string[]): DiffLine[] =>
  lines.map((text) => ({ sign, text }));
