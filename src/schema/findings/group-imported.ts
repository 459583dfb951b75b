/** Groups the findings of an imported file, so that the same reason is not repeated for each object. */
import type { Resumable } from '../../kernel/resumable.js';
import { MOST_PLACES, type Place, alsoText } from './group-findings.js';
import type { Finding } from './model.js';
import { IMPORTED } from './rules/imported.js';

/** Groups findings with the same code and reason at the position of the first. */
export function* together<F extends Finding & { action?: string }>(noticed: readonly F[]): Resumable<F[]> {
  const groups = new Map<string, { first: F; places: Place[]; count: number }>();
  for (const [index, finding] of noticed.entries()) {
    yield;
    const place = placeToList(finding);
    const key = place === undefined ? String(index) : reasonOf(finding);
    const group = groups.get(key);
    if (group === undefined) {
      groups.set(key, { first: finding, places: place === undefined ? [] : [place], count: 1 });
      continue;
    }
    group.count += 1;
    if (place !== undefined && group.places.length < MOST_PLACES) group.places.push(place);
  }
  return [...groups.values()].map(({ first, places, count }) =>
    count === 1 ? first : { ...first, message: `${ended(first.message)}; ${alsoText(places, count)}`, places },
  );
}

const OF_FILES: ReadonlySet<string> = new Set(IMPORTED.map(({ code }) => code));

/** Findings about data, or that can block a change, are not grouped. */
function placeToList({ code, collection, field }: Finding): Place | undefined {
  if (collection === undefined || !OF_FILES.has(code)) return undefined;
  return { collection, ...(field !== undefined && { field }) };
}

/** Returns the message without the names of its own location. */
function reasonOf({ code, level, action, collection, field, message }: Finding & { action?: string }): string {
  const names = [collection, field].filter((name) => name !== undefined).map((name) => JSON.stringify(name));
  return JSON.stringify([code, level, action, names.reduce((text, name) => text.replaceAll(name, '""'), message)]);
}

const ended = (sentence: string): string => sentence.replace(/\.$/, '');
