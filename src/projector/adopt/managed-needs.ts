/** Types and sequences that were changed by hand before another table with them was adopted: all tables say what is there. */
import type { Need } from '../../schema/model/extras.js';
import { jsonEqual } from '../../kernel/json.js';
import type { Collection } from '../../schema/model/model.js';
import { needLabel, ownerOf, withOwner } from '../../schema/model/needs.js';
import { type State, extrasOf } from '../../schema/model/state.js';
import { withExtras } from '../../schema/transition/table-extras.js';

/** @returns the `completed` collections and those managed ones that said otherwise, as they say it now */
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

/** By label; of a sequence as the table has it with whose column it ends. */
function foundNeeds(adopted: readonly Collection[]): ReadonlyMap<string, Need> {
  const found = new Map<string, Need>();
  for (const need of adopted.flatMap(needsOf)) {
    const label = needLabel(need);
    if (ownerOf(need) !== undefined || !found.has(label)) found.set(label, need);
  }
  return found;
}

/** The same collection where it says so already. */
function withFound(collection: Collection, found: ReadonlyMap<string, Need>): Collection {
  const { schema } = collection;
  const before = needsOf(collection);
  const needs = before.map((need) => asFound(need, found.get(needLabel(need))));
  if (schema === null || jsonEqual(needs, [...before])) return collection;
  return { ...collection, schema: withExtras(schema, { ...schema.extras, needs }) };
}

/** A sequence that ends with a column of an adopted table ends with no other. */
function asFound(need: Need, found: Need | undefined): Need {
  if (found === undefined) return need;
  return withOwner(found, ownerOf(found) === undefined ? ownerOf(need) : undefined);
}
