import { quoted } from '../../kernel/quoted.js';
import { type Problem, about } from '../../kernel/problem.js';
import { type Grouping, groupFault } from './group.js';
import { extrasProblems } from './extras.js';
import { type CollectionNode, type State, primaryKeyOf, extrasOf } from '../model/state.js';

/**
 * Checks the collection as a whole: its group, the fields that meta names, keys and extras. Fields and relations are
 * checked elsewhere.
 */
export function collectionProblems(state: State, node: CollectionNode, groups: Grouping): Problem[] {
  const { collection, meta, schema } = node.collection;
  const problem = (member: string[], message: string): Problem =>
    about({ kind: 'collection', collection, member }, message);
  const problems: Problem[] = [];
  const group = groupFault(collection, meta.group, groups);
  if (group !== undefined) problems.push(problem(['meta', 'group'], group));
  for (const member of ['archive_field', 'sort_field'] as const) {
    const field = meta[member];
    if (field !== null && !node.fields.has(field)) {
      const message = `${quoted(field)} is not a field of ${quoted(collection)}; name one of its fields, or null`;
      problems.push(problem(['meta', member], message));
    }
  }
  if (schema === null && node.fields.size > 0) {
    problems.push(problem(['fields'], `${quoted(collection)} is a folder (schema null) and can't have fields`));
  }
  return [...problems, ...keysProblems(node), ...extrasProblems(state, node)];
}

/** Keys of several columns are only allowed if adopted. */
function keysProblems(node: CollectionNode): Problem[] {
  const [first, ...others] = primaryKeyOf(node);
  const { collection } = node.collection;
  if (first === undefined || others.length === 0 || extrasOf(node).primary_key !== undefined) return [];
  return others.map(({ field }) => secondKey(collection, first.field, field));
}

/** The problem of a second primary key `field` beside `first`. */
export function secondKey(collection: string, first: string, field: string): Problem {
  const message = `field ${quoted(field)} cannot be the primary key of collection ${quoted(collection)}: field ${quoted(first)} is its primary key, and a collection has one. Send is_primary_key false for ${quoted(field)}, or move the key from ${quoted(first)} in the same request`;
  return about({ kind: 'field', collection, field, member: ['schema', 'is_primary_key'] }, message);
}

/** Shared by the checks of one state: valid group chains are checked once. */
export function groupsOf(state: State): Grouping {
  const parentOf = (name: string) =>
    state.collections.get(name)?.collection.meta ?? `there is no collection ${quoted(name)} to group under`;
  return { parentOf, sound: new Set() };
}
