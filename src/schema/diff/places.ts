/** Locations within a submitted diff. */
import type { CollectionDiff, FieldDiff, RelationDiff, SchemaDiff } from './diff.js';
import type { Entry } from './entries.js';
import type { Path } from '../../kernel/problem.js';
import { type Place, type Places, stepsIn } from '../../kernel/locate.js';

export function diffPlaces({ collections, fields, relations }: SchemaDiff): Places {
  const named = (collection: string, field: string) => (item: FieldDiff | RelationDiff) =>
    item.collection === collection && item.field === field;
  return {
    collection: (name) => diffPlace('collections', collections, (item) => item.collection === name),
    field: (collection, field) => diffPlace('fields', fields, named(collection, field)),
    relation: (collection, field) => diffPlace('relations', relations, named(collection, field)),
  };
}

/** A replaced object occurs twice, removed and then new. The result contains the new one. */
function diffPlace<T extends CollectionDiff | FieldDiff | RelationDiff>(
  part: keyof SchemaDiff,
  items: readonly T[],
  matches: (item: T) => boolean,
): Place | undefined {
  const index = items.findLastIndex(matches);
  const item = items[index];
  return item && { at: ['diff', part, index], stepsTo: (member) => stepsInEntries(item.diff, member) };
}

/** Maps an item of a diff to the entry that sets the member, and to the location within its value. */
export function stepsInEntries(entries: readonly Entry<unknown>[], member: Path): Path {
  for (const [index, entry] of entries.entries()) {
    const path = 'path' in entry ? entry.path : [];
    if (!path.every((step, depth) => depth >= member.length || step === member[depth])) continue;
    const at = ['diff', index];
    if (!('rhs' in entry)) return at;
    return [...at, 'rhs', ...stepsIn(entry.rhs, member.slice(path.length))];
  }
  return [];
}
