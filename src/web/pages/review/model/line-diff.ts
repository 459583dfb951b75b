/* Compares two texts by line. */

interface DiffLine {
  /** A space for a line of both texts. */
  sign: ' ' | '-' | '+';
  text: string;
}

/** Above this number of compared pairs, all differing lines are shown as replaced. */
const MOST_PAIRS = 1_000_000;

/** Lines that only the first text has come before those that only the second has. */
export function lineDiff(before: string, after: string): DiffLine[] {
  const [old, now] = [before.split('\n'), after.split('\n')];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)) end += 1;
  return [
    ...signed(' ', old.slice(0, start)),
    ...middle(old.slice(start, old.length - end), now.slice(start, now.length - end)),
    ...signed(' ', old.slice(old.length - end)),
  ];
}

const signed = (sign: DiffLine['sign'], lines: readonly string[]): DiffLine[] => lines.map((text) => ({ sign, text }));

function middle(old: readonly string[], now: readonly string[]): DiffLine[] {
  if (old.length * now.length > MOST_PAIRS) return [...signed('-', old), ...signed('+', now)];
  const common = commonLengths(old, now);
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  for (;;) {
    const [deleted, added] = [old[i], now[j]];
    if (deleted === undefined || added === undefined) break;
    const isDeleted = (common[i + 1]?.[j] ?? 0) >= (common[i]?.[j + 1] ?? 0);
    const sign = deleted === added ? ' ' : isDeleted ? '-' : '+';
    lines.push({ sign, text: sign === '+' ? added : deleted });
    if (sign !== '+') i += 1;
    if (sign !== '-') j += 1;
  }
  return [...lines, ...signed('-', old.slice(i)), ...signed('+', now.slice(j))];
}

/** The length of the longest common subsequence of the lines from `i` and from `j` on. */
function commonLengths(old: readonly string[], now: readonly string[]): number[][] {
  const lengths: number[][] = [];
  for (let i = old.length - 1; i >= 0; i -= 1) {
    const row: number[] = [];
    for (let j = now.length - 1; j >= 0; j -= 1) {
      const longer = Math.max(lengths[i + 1]?.[j] ?? 0, row[j + 1] ?? 0);
      row[j] = old[i] === now[j] ? (lengths[i + 1]?.[j + 1] ?? 0) + 1 : longer;
    }
    lengths[i] = row;
  }
  return lengths;
}
