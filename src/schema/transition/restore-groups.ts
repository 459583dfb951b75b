/** Groups that a collection stood in, and those that stood in it. */
import { type CollectionNode, type State, groupedIn } from '../model/state.js';
import { type Restoring, noCollection } from './restore-context.js';

/** What has been moved to another group meanwhile stays there, and is told in `left`. */
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
    // Those that are gone are their own deletion's.
    if (held === undefined || child === name) continue;
    const { group } = state.collections.get(child)?.collection.meta ?? held.meta;
    if (group === above) draft.putCollection({ ...held, meta: { ...held.meta, group: name } });
    else left.push({ kind: 'group', collection: child, reason: `it stands in ${groupText(group)} now` });
  }
}

const groupText = (group: string | null): string => (group === null ? 'no group' : JSON.stringify(group));

/** A delete moved to it what stood in the collection. */
const nearestGroup = ({ past, node, isThere }: Restoring): string | null =>
  groupsAbove(past, node).find(isThere) ?? null;

/** The group of a collection, that one's group, and so on. */
export function groupsAbove({ collections }: State, { collection }: CollectionNode): string[] {
  const groups = new Set<string>();
  let { group } = collection.meta;
  while (group !== null && !groups.has(group)) {
    groups.add(group);
    group = collections.get(group)?.collection.meta.group ?? null;
  }
  return [...groups];
}
