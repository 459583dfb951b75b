/** Applies the draft to lists of collections. */
import type { Collection } from '../../schema/model/model.js';
import type { ListedCollection } from '../service/types.js';
import { collectionOf, type Draft, isEmpty } from './model.js';
import { withDraftMarks } from './marked-documents.js';

/**
 * Returns the members that lists contain. Of the schema, a list contains only the name of the table, or null for a
 * folder.
 */
export const listedOf = ({ collection, meta, schema }: Collection): ListedCollection => ({
  collection,
  meta: { collection, ...meta },
  schema: schema && { name: collection },
});

/** Returns the collections with the draft applied. Removed collections are not included. */
export function withDraft(draft: Draft, listed: readonly ListedCollection[]): readonly ListedCollection[] {
  if (isEmpty(draft)) return listed;
  const all = withDraftMarks(draft, 'collections', listed.map(collectionOf));
  return all.flatMap(({ document, mark }) => (mark === 'removed' ? [] : [listedOf(document)]));
}
