/** Lists: the page that was asked for, and counts beside it. */
import { z } from 'zod';
import { count, type MetaMember, metaMembers } from './query.js';

export const listQuery = z.strictObject({
  offset: count.default(0),
  limit: count.optional(),
  meta: metaMembers.optional(),
});

export type ListQuery = z.output<typeof listQuery>;

/** What tells the pages of one list apart. */
export function pageKey({ offset, limit, meta }: ListQuery): string {
  return `${offset} ${limit ?? ''} ${meta?.join() ?? ''}`;
}

/** The answer's JSON. `all`: the JSON of every item, in order. */
export function listText(all: readonly string[], { offset, limit, meta }: ListQuery): string {
  const page = all.slice(offset, limit === undefined ? undefined : offset + limit);
  const data = `"data":[${page.join(',')}]`;
  return meta === undefined ? `{${data}}` : `{${data},"meta":${JSON.stringify(counts(meta, all.length))}}`;
}

/** Nothing is filtered, so both counts are of all items, whatever the page holds. */
function counts(members: readonly MetaMember[], total: number): Partial<Record<MetaMember, number>> {
  return Object.fromEntries(members.map((member) => [member, total]));
}
