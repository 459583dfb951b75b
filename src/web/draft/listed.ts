/** Collections as lists show them, with the draft on top. */
import type { Collection } from '../../schema/model/model.js';
import type { ListedCollection } from '../service/types.js';
import { collectionOf } from './documents.js';
import { drafted } from './drafted.js';
import { type Draft, isEmpty } from './model.js';

/** Only what lists have: of the schema no more than the name of the table; null for a folder. */
export const listedOf = ({ collection, meta, schema }: Collection): ListedCollection => ({
  collection,
  meta: { collection, ...meta },
  schema: schema && { name: collection },
});

/** Without those that go. */
export function withDraft(draft: Draft, listed: readonly ListedCollection[]): readonly ListedCollection[] {
  if (isEmpty(draft)) return listed;
  const all = drafted(draft, 'collections', listed.map(collectionOf));
  return all.flatMap(({ document, how }) => (how === 'removed' ? [] : [listedOf(document)]));
}
