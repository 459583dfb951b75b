/**
 * Origins of new objects that existed before: their identity, and their trash entry. An apply of the diff restores
 * them. Without an origin they are different objects of the same name.
 */
import { type Path, type Problem, invalid } from '../../kernel/problem.js';
import { type Identity, memberKey } from '../model/state.js';
import type { ComingAgain } from '../transition/coming-again.js';
import type { InTrash } from '../transition/restoring-transition.js';
import type { SchemaDiff } from './diff.js';
import { type Entry, type Origin, isAddition } from './entries.js';

/** Adds the origins to the new objects of a diff. */
export function withOrigins(diff: SchemaDiff, again: ComingAgain, found: readonly InTrash[]): SchemaDiff {
  if (again.size === 0) return diff;
  const kept = found.filter(({ empty }) => empty !== true);
  const positions = new Map(kept.map(({ identity, position }) => [identity, position]));
  const originOf = (key: string, entries: readonly Entry<unknown>[]): Origin => {
    const identity = isAddition(entries) ? again.get(key) : undefined;
    if (identity === undefined) return {};
    const restores = positions.get(identity);
    return { identity, ...(restores !== undefined && { restores }) };
  };
  return {
    ...diff,
    collections: diff.collections.map((item) => ({ ...item, ...originOf(item.collection, item.diff) })),
    fields: diff.fields.map((item) => ({ ...item, ...originOf(memberKey(item.collection, item.field), item.diff) })),
  };
}

/** Reads the origins of a submitted diff by name. */
export function originsIn({ collections, fields }: SchemaDiff): ComingAgain {
  const found = new Map<string, Identity>();
  for (const { collection, identity } of collections) if (identity !== undefined) found.set(collection, identity);
  for (const { collection, field, identity } of fields) {
    if (identity !== undefined) found.set(memberKey(collection, field), identity);
  }
  return found;
}

/** Returns the problems of an item's submitted origin. */
export function originProblems(item: { [member: string]: unknown }, at: Path): Problem[] {
  const { identity, restores, diff } = item;
  if (identity === undefined && restores === undefined) return [];
  const problems: Problem[] = [];
  if (typeof identity !== 'string' || !/^\d{1,15}(\.\d{1,6})?$/.test(identity))
    problems.push(invalid([...at, 'identity'], 'identity is what /history/diff said'));
  if (restores !== undefined && !(Number.isSafeInteger(restores) && (restores as number) > 0))
    problems.push(invalid([...at, 'restores'], 'restores is the position of a deletion'));
  if (!Array.isArray(diff) || !isAddition(diff as Entry<unknown>[]))
    problems.push(invalid([...at, 'identity'], 'only what is new has an identity here'));
  return problems;
}

/** Returns problems for identities that two objects share. */
export function sharedIdentities({ collections, fields }: SchemaDiff): Problem[] {
  const seen = new Set<Identity>();
  const check = (part: 'collections' | 'fields') => (item: Origin, index: number) => {
    const { identity } = item;
    if (identity === undefined) return [];
    if (!seen.has(identity)) {
      seen.add(identity);
      return [];
    }
    return [invalid(['diff', part, index, 'identity'], 'another one has this identity already')];
  };
  return [...collections.flatMap(check('collections')), ...fields.flatMap(check('fields'))];
}
