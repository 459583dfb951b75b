/**
 * Handles types and sequences that were altered by hand before another table that uses them was adopted. All tables
 * then record the current definition.
 */
import type { Need } from '../../schema/model/extras.js';
import { jsonEqual } from '../../kernel/json.js';
import type { Collection } from '../../schema/model/model.js';
import { needLabel, ownerOf, withOwner } from '../../schema/model/needs.js';
import { type State, extrasOf } from '../../schema/model/state.js';
import { withExtras } from '../../schema/transition/table-extras.js';

/**
 * @returns the `completed` collections and the managed collections that recorded another definition, with the current
 * one
 */
export function completeNeeds(
  adopted: readonly Collection[],
  { collections }: State,
  completed: readonly Collection[],
): Collection[] {
  const found = foundNeeds(adopted);
  const done = new Map(completed.map((each) => [each.collection, each]));
  if (found.size === 0) return [...completed];
  for (const { collection } of collections.values()) {
    const before = done.get(collection.collection) ?? collection;
    const now = withFound(before, found);
    if (now !== before) done.set(collection.collection, now);
  }
  return [...done.values()];
}

const needsOf = (collection: Collection): readonly Need[] => extrasOf({ collection }).needs ?? [];

/** Keyed by label. A sequence counts as owned if any table owns it. */
function foundNeeds(adopted: readonly Collection[]): ReadonlyMap<string, Need> {
  const found = new Map<string, Need>();
  for (const need of adopted.flatMap(needsOf)) {
    const label = needLabel(need);
    if (ownerOf(need) !== undefined || !found.has(label)) found.set(label, need);
  }
  return found;
}

/** Returns the same collection if its needs already match. */
function withFound(collection: Collection, found: ReadonlyMap<string, Need>): Collection {
  const { schema } = collection;
  const before = needsOf(collection);
  const needs = before.map((need) => asFound(need, found.get(needLabel(need))));
  if (schema === null || jsonEqual(needs, [...before])) return collection;
  return { ...collection, schema: withExtras(schema, { ...schema.extras, needs }) };
}

/** A sequence that a column of an adopted table owns cannot belong to another table. */
function asFound(need: Need, found: Need | undefined): Need {
  if (found === undefined) return need;
  return withOwner(found, ownerOf(found) === undefined ? ownerOf(need) : undefined);
}
