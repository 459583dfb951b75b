/** Keeps State.referencedBy: which collections hold relations that point at a collection. */
import { Set as PersistentSet } from 'immutable';
import type { Relation } from '../model/model.js';
import type { State } from '../model/state.js';

type Relations = ReadonlyMap<string, Relation> | undefined;

/** The index after the relations of `many` changed from `before` to `after`. */
export function reindex(index: State['referencedBy'], many: string, before: Relations, after: Relations) {
  const old = targetsOf(before);
  const now = targetsOf(after);
  let next = index;
  for (const target of old) {
    if (now.has(target)) continue;
    const rest = next.get(target)?.delete(many);
    next = rest === undefined || rest.isEmpty() ? next.delete(target) : next.set(target, rest);
  }
  for (const target of now) {
    if (!old.has(target)) next = next.set(target, (next.get(target) ?? PersistentSet<string>()).add(many));
  }
  return next;
}

function targetsOf(relations: Relations): Set<string> {
  const targets = new Set<string>();
  for (const relation of relations?.values() ?? []) {
    if (relation.one_collection !== null) targets.add(relation.one_collection);
    for (const allowed of relation.one_allowed_collections ?? []) targets.add(allowed);
  }
  return targets;
}
