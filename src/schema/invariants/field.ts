import { type Problem, renderPath } from '../problem.js';
import type { CollectionNode } from '../state.js';
import { columnFaults } from './column.js';
import { quoted } from './quoted.js';

export function fieldProblems(node: CollectionNode): Problem[] {
  const { collection } = node.collection;
  const problems: Problem[] = [];
  for (const { field, meta, schema } of node.fields.values()) {
    const problem = (path: string[], message: string): Problem => ({
      code: 'INVALID_PAYLOAD',
      message,
      path: renderPath(path),
      collection,
      field,
    });
    const group = meta.group === null ? undefined : groupProblem(node, field, meta.group);
    if (group !== undefined) problems.push(problem(['meta', 'group'], group));
    if (schema === null) continue;
    for (const [member, message] of columnFaults(schema)) problems.push(problem(['schema', member], message));
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
