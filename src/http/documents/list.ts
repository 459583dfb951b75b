/** Lists: the page that was asked for, and counts beside it. */
import { z } from 'zod';
import type { Texts } from '../../kernel/bytes.js';
import { membersOf, pickText } from './shown-members.js';
import { count, type MetaMember, metaMembers } from '../request/query.js';

/** `members`: those of an item, which `fields` may choose from. */
export const listQueryOf = <const M extends string>(members: readonly M[]) =>
  z.strictObject({
    offset: count.default(0).describe('How many items to skip'),
    limit: count.optional().describe('How many items at most'),
    meta: metaMembers.optional(),
    fields: membersOf(members).optional(),
  });

export interface ListQuery {
  offset: number;
  limit?: number | undefined;
  meta?: readonly MetaMember[] | undefined;
  fields?: readonly string[] | undefined;
}

/** What tells the pages of one list apart. */
export function pageKey({ offset, limit, meta, fields }: ListQuery): string {
  return JSON.stringify([offset, limit, meta, fields]);
}

/** What `textOf` says of each item, as the JSON of an array. */
export function* listed<T>(items: readonly T[], textOf: (item: T) => string): Generator<string, void, void> {
  yield '[';
  for (const [index, item] of items.entries()) yield (index > 0 ? ',' : '') + textOf(item);
  yield ']';
}

/** The answer's JSON. `all`: the JSON of every item, in order; an empty text is none. */
export function* listTexts(all: Texts, { offset, limit, meta, fields }: ListQuery): Generator<string, void, void> {
  const end = limit === undefined ? Infinity : offset + limit;
  let total = 0;
  yield '{"data":[';
  for (const text of all) {
    if (text === '') {
      yield '';
      continue;
    }
    const isShown = total >= offset && total < end;
    if (isShown) yield (total > offset ? ',' : '') + pickText(text, fields);
    else yield '';
    total += 1;
  }
  yield meta === undefined ? ']}' : `],"meta":${JSON.stringify(counts(meta, total))}}`;
}

/** Nothing is filtered, so both counts are of all items, whatever the page holds. */
function counts(members: readonly MetaMember[], total: number): Partial<Record<MetaMember, number>> {
  return Object.fromEntries(members.map((member) => [member, total]));
}
