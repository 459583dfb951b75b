/** Lists: pagination and counts. */
import { z } from 'zod';
import type { Texts } from '../../kernel/bytes.js';
import { membersOf, pickText } from './shown-members.js';
import { count, type MetaMember, metaMembers } from '../request/query.js';

/** `members`: the members of an item that `fields` may select. */
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

/** Identifies a page among those of one list. */
export function pageKey({ offset, limit, meta, fields }: ListQuery): string {
  return JSON.stringify([offset, limit, meta, fields]);
}

/** A JSON array of the output of `textOf`. */
export function* listed<T>(items: readonly T[], textOf: (item: T) => string): Generator<string, void, void> {
  yield '[';
  for (const [index, item] of items.entries()) yield (index > 0 ? ',' : '') + textOf(item);
  yield ']';
}

/** The JSON of the response. `all`: the JSON of every item, in order; empty texts are skipped. */
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

/** Without filters, both counts cover all items, whatever the page contains. */
function counts(members: readonly MetaMember[], total: number): Partial<Record<MetaMember, number>> {
  return Object.fromEntries(members.map((member) => [member, total]));
}
