import { type Problem, renderPath } from '../problem.js';
import { type Grouping, groupFault } from './group.js';
import { quoted } from './quoted.js';
import { extrasFaults } from './extras.js';
import { type CollectionNode, type State, primaryKeyOf } from '../state.js';

export function collectionProblems(state: State, node: CollectionNode, groups: Grouping): Problem[] {
  const { collection, meta, schema } = node.collection;
  const problem = (path: (string | number)[], message: string): Problem => ({
    code: 'INVALID_PAYLOAD',
    message,
    path: renderPath(path),
    collection,
  });
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
  const several = keysProblem(node);
  if (several !== undefined) problems.push(problem(['fields'], several));
  problems.push(
    ...extrasFaults(state, node).map(([member, message]) => problem(['schema', 'extras', member], message)),
  );
  return problems;
}

/** Several columns make a key only where it was adopted so. */
function keysProblem(node: CollectionNode): string | undefined {
  const keys = primaryKeyOf(node);
  const { collection, schema } = node.collection;
  if (keys.length <= 1 || schema?.extras?.primary_key !== undefined) return undefined;
  const names = keys.map((field) => quoted(field.field)).join(', ');
  return `${quoted(collection)} has several primary keys (${names}); keep one`;
}

/** For the checks of one state: who was found to stand in groups that are right is not asked again. */
export function groupsOf(state: State): Grouping {
  const parentOf = (name: string) =>
    state.collections.get(name)?.collection.meta ?? `there is no collection ${quoted(name)} to group under`;
  return { parentOf, sound: new Set() };
}
