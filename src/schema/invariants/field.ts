import { type Problem, renderPath } from '../problem.js';
import type { CollectionNode } from '../state.js';
import { quoted } from './quoted.js';

export function fieldProblems(node: CollectionNode): Problem[] {
  const problems: Problem[] = [];
  for (const field of node.fields.values()) {
    if (field.meta.group === null) continue;
    const message = groupProblem(node, field.field, field.meta.group);
    if (message === undefined) continue;
    const { collection } = node.collection;
    problems.push({
      code: 'INVALID_PAYLOAD',
      message,
      path: renderPath(['meta', 'group']),
      collection,
      field: field.field,
    });
  }
  return problems;
}

/** A field's group is an alias field of the same collection. */
function groupProblem(node: CollectionNode, field: string, group: string): string | undefined {
  const seen = new Set([field]);
  for (let at: string | null = group; at !== null;) {
    if (seen.has(at)) return `group ${quoted(group)} makes a cycle: ${quoted(at)} would be inside itself`;
    seen.add(at);
    const parent = node.fields.get(at);
    if (parent === undefined)
      return `there is no field ${quoted(at)} in ${quoted(node.collection.collection)} to group under`;
    if (parent.schema !== null) return `${quoted(at)} is a column; only an alias field can group others`;
    at = parent.meta.group;
  }
  return undefined;
}
