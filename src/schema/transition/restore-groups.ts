/** Restores the group of a collection and its group members. */
import { type CollectionNode, type State, groupedIn } from '../model/state.js';
import { type Restoring, noCollection } from './restore-context.js';

/** Objects that were moved to another group meanwhile stay there and are added to `left`. */
export function restoreGroups(restoring: Restoring): void {
  const { state, past, draft, name, node, isThere, left } = restoring;
  const above = nearestGroup(restoring);
  const { collection } = node;
  if (above !== collection.meta.group) {
    const reason = noCollection(restoring, collection.meta.group);
    left.push({ kind: 'group', collection: name, reason });
    draft.putCollection({ ...collection, meta: { ...collection.meta, group: above } });
  }
  for (const child of groupedIn(past, name)) {
    const held = isThere(child) ? draft.get(child)?.collection : undefined;
    // Deleted members belong to their own deletion.
    if (held === undefined || child === name) continue;
    const { group } = state.collections.get(child)?.collection.meta ?? held.meta;
    if (group === above) draft.putCollection({ ...held, meta: { ...held.meta, group: name } });
    else left.push({ kind: 'group', collection: child, reason: `it stands in ${groupText(group)} now` });
  }
}

const groupText = (group: string | null): string => (group === null ? 'no group' : JSON.stringify(group));

/** The deletion moved the members of the collection to this group. */
const nearestGroup = ({ past, node, isThere }: Restoring): string | null =>
  groupsAbove(past, node).find(isThere) ?? null;

/** Returns the group of a collection, the group of that one, and so on. */
export function groupsAbove({ collections }: State, { collection }: CollectionNode): string[] {
  const groups = new Set<string>();
  let { group } = collection.meta;
  while (group !== null && !groups.has(group)) {
    groups.add(group);
    group = collections.get(group)?.collection.meta.group ?? null;
  }
  return [...groups];
}
