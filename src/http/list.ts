/** Lists: the page that was asked for, and counts beside it. */
import { z } from 'zod';
import { membersOf, pickText } from './members.js';
import { count, type MetaMember, metaMembers } from './query.js';

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
  return `${offset} ${limit ?? ''} ${meta?.join() ?? ''} ${fields?.join() ?? ''}`;
}

/** The answer's JSON. `all`: the JSON of every item, in order. */
export function listText(all: readonly string[], { offset, limit, meta, fields }: ListQuery): string {
  const page = all.slice(offset, limit === undefined ? undefined : offset + limit);
  const shown = fields === undefined ? page : page.map((text) => pickText(text, fields));
  const data = `"data":[${shown.join(',')}]`;
  return meta === undefined ? `{${data}}` : `{${data},"meta":${JSON.stringify(counts(meta, all.length))}}`;
}

/** Nothing is filtered, so both counts are of all items, whatever the page holds. */
function counts(members: readonly MetaMember[], total: number): Partial<Record<MetaMember, number>> {
  return Object.fromEntries(members.map((member) => [member, total]));
}
