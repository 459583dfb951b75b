/* Carries the backfills of a diff over to the diff that results from its merge. No comparison of states finds them. */
import { type Backfill, sourceOf } from '../model/backfill.js';
import {
  type CollectionNode,
  type State,
  NEW_IDENTITY,
  fieldNameOf,
  memberKey,
  sameCollection,
} from '../model/state.js';
import type { FieldDiff, SchemaDiff } from './diff.js';
import { isRemoval } from './entries.js';

/** A field to fill, by its names in the state that the diff leads to. */
export interface SubmittedBackfills {
  theirs: State;
  fields: readonly FieldDiff[];
}

/**
 * Adds the backfills under the names that the objects have in `to`. The result of the merge does not contain a field
 * that already has the requested state, which then needs no backfill.
 */
export function carryBackfills(diff: SchemaDiff, { theirs, fields }: SubmittedBackfills, to: State): SchemaDiff {
  const carried = new Map<string, Backfill>();
  for (const { collection, field, backfill } of fields) {
    const node = theirs.collections.get(collection);
    const now = node && collectionIn(to, node);
    if (backfill === undefined || node === undefined || now === undefined) continue;
    const named = withSource(backfill, (source) => fieldIn(now, node, source));
    carried.set(memberKey(now.collection.collection, fieldIn(now, node, field)), named);
  }
  if (carried.size === 0) return diff;
  const withBackfill = (item: FieldDiff): FieldDiff => {
    const backfill = isRemoval(item.diff) ? undefined : carried.get(memberKey(item.collection, item.field));
    return backfill === undefined ? item : { ...item, backfill };
  };
  return { ...diff, fields: diff.fields.map(withBackfill) };
}

const collectionIn = (state: State, node: CollectionNode): CollectionNode | undefined =>
  node.identities.collection === NEW_IDENTITY
    ? state.collections.get(node.collection.collection)
    : sameCollection(state, node);

/** Returns the name that a field of `node` has in `now`. */
function fieldIn(now: CollectionNode, node: CollectionNode, field: string): string {
  const identity = node.identities.fields.get(field);
  return identity === undefined || identity === NEW_IDENTITY ? field : (fieldNameOf(now, identity) ?? field);
}

function withSource(backfill: Backfill, nameOf: (source: string) => string): Backfill {
  const source = sourceOf(backfill);
  return source === undefined ? backfill : { ...backfill, field: nameOf(source) };
}
