import { type Problem, renderPath } from '../problem.js';
import { quoted } from './quoted.js';
import { extrasFaults } from './extras.js';
import { type CollectionNode, type State, primaryKeyOf } from '../state.js';

export function collectionProblems(state: State, node: CollectionNode): Problem[] {
  const { collection, meta, schema } = node.collection;
  const problem = (path: (string | number)[], message: string): Problem => ({
    code: 'INVALID_PAYLOAD',
    message,
    path: renderPath(path),
    collection,
  });
  const problems: Problem[] = [];
  const group = groupProblem(state, collection, meta.group);
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

function groupProblem(state: State, collection: string, group: string | null): string | undefined {
  const seen = new Set([collection]);
  for (let at = group; at !== null;) {
    if (seen.has(at)) return `group ${quoted(group)} makes a cycle: ${quoted(at)} would be inside itself`;
    seen.add(at);
    const parent = state.collections.get(at);
    if (parent === undefined) return `there is no collection ${quoted(at)} to group ${quoted(collection)} under`;
    at = parent.collection.meta.group;
  }
  return undefined;
}
