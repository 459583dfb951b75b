/** Compares concurrent changes with the review: three values where both changed the same. */
import { valueText } from '../../../shared/changes/sentences.js';
import type { ShownConflict } from '../../../shared/conflicts/shown-conflict.js';
import type { SchemaDiff } from '../../../service/types.js';
import { type Item, type Member, itemsOf } from './items.js';

/** The key of the item or member that is left out if theirs is chosen. */
export interface Conflict extends ShownConflict {
  path: readonly string[];
}

/**
 * @param mine the reviewed items
 * @param since the changes of others to the same schema
 */
export function conflictsOf(mine: readonly Item[], since: Partial<SchemaDiff>): Conflict[] {
  const theirs = new Map(itemsOf(since).map((item) => [item.key, item]));
  return mine.flatMap((item) => {
    const other = theirs.get(item.key);
    return other === undefined ? [] : conflictsBetween(item, other);
  });
}

function conflictsBetween(mine: Item, theirs: Item): Conflict[] {
  if (mine.document !== null || theirs.document !== null) return wholeConflict(mine, theirs);
  const others = new Map(theirs.members.map((member) => [member.key, member]));
  return mine.members.flatMap((member) => {
    const other = others.get(member.key);
    if (other === undefined || isSame(member, other)) return [];
    const { collection, field } = mine;
    const [base, own, their] = [member.before, member.after, other.after].map(valueText) as [string, string, string];
    return [{ key: member.key, collection, field, path: member.path, base, mine: own, theirs: their }];
  });
}

const isSame = (one: Member, other: Member): boolean => JSON.stringify(one.after) === JSON.stringify(other.after);

function wholeConflict(mine: Item, theirs: Item): Conflict[] {
  if (mine.how === theirs.how && JSON.stringify(mine.document) === JSON.stringify(theirs.document)) return [];
  const { key, collection, field } = mine;
  const base = mine.how === 'made' || theirs.how === 'made' ? 'absent' : 'present';
  return [{ key, collection, field, path: [], base, mine: wordOf(mine), theirs: wordOf(theirs) }];
}

function wordOf({ how, members }: Item): string {
  if (how === 'made') return 'new';
  if (how === 'removed') return 'deleted';
  return `changed: ${members.map(({ path }) => path.join('.')).join(', ')}`;
}

/** Items in the new review that were not in the previous one: they would undo concurrent changes. */
export function keysSince(before: readonly Item[], now: readonly Item[]): string[] {
  const keysOf = (items: readonly Item[]) =>
    items.flatMap(({ key, members }) => (members.length === 0 ? [key] : members.map((member) => member.key)));
  const known = new Set([...keysOf(before), ...before.map(({ key }) => key)]);
  return keysOf(now).filter((key) => !known.has(key));
}
