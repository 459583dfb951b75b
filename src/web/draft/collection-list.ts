/** Lists of collections with the draft on top. */
import type { Collection } from '../../schema/model/model.js';
import type { ListedCollection } from '../service/types.js';
import { collectionOf, type Draft, isEmpty } from './model.js';
import { withDraftMarks } from './marked-documents.js';

/** The members of lists: of the schema only the table name; null for a folder. */
export const listedOf = ({ collection, meta, schema }: Collection): ListedCollection => ({
  collection,
  meta: { collection, ...meta },
  schema: schema && { name: collection },
});

/** Without removed collections. */
export function withDraft(draft: Draft, listed: readonly ListedCollection[]): readonly ListedCollection[] {
  if (isEmpty(draft)) return listed;
  const all = withDraftMarks(draft, 'collections', listed.map(collectionOf));
  return all.flatMap(({ document, mark }) => (mark === 'removed' ? [] : [listedOf(document)]));
}
