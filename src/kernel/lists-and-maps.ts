/** Sorts lists in steps, and inverts maps. */
import type { Resumable } from './resumable.js';

/* Sorting ten thousand names at once blocks the event loop for 10 ms. */

/** Items that one step sorts or merges. */
const AT_ONCE = 500;

/** `[...items].sort(compare)` in steps. */
export function* sortInSteps<T>(items: Iterable<T>, compare: (a: T, b: T) => number): Resumable<T[]> {
  let runs: T[][] = [];
  for (const item of items) {
    const run = runs.at(-1);
    if (run !== undefined && run.length < AT_ONCE) {
      run.push(item);
      continue;
    }
    yield;
    runs.push([item]);
  }
  for (const run of runs) {
    run.sort(compare);
    yield;
  }
  while (runs.length > 1) {
    const merged: T[][] = [];
    for (let index = 0; index < runs.length; index += 2) {
      merged.push(yield* merge(runs[index] as T[], runs[index + 1] ?? [], compare));
    }
    runs = merged;
  }
  return runs[0] ?? [];
}

/** Takes equal items from `first` first, so that the sort is stable. */
function* merge<T>(first: readonly T[], second: readonly T[], compare: (a: T, b: T) => number): Resumable<T[]> {
  const merged: T[] = [];
  let [left, right] = [0, 0];
  while (merged.length < first.length + second.length) {
    const takesFirst =
      right === second.length || (left < first.length && compare(first[left] as T, second[right] as T) <= 0);
    merged.push((takesFirst ? first[left++] : second[right++]) as T);
    if (merged.length % AT_ONCE === 0) yield;
  }
  return merged;
}

/** Swaps keys and values. The values must be unique. */
export const invertMap = <K, V>(map: ReadonlyMap<K, V>): Map<V, K> =>
  new Map([...map].map(([key, value]) => [value, key]));
