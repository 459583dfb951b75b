import type { CollectionNode, State } from '../../schema/model/state.js';
import { noFieldsListed } from '../../schema/operations/refusals.js';
import { Refused } from '../errors.js';

/** @throws Refused NOT_FOUND if it does not exist or is a system collection */
export function listedCollection(state: State, collection: string): CollectionNode {
  const node = state.collections.get(collection);
  if (node === undefined) throw new Refused([noFieldsListed(state, collection)]);
  return node;
}
