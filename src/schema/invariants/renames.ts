/** Problems of a rename itself. */
import { parentOf } from '../model/order.js';
import { type State, isFolder } from '../model/state.js';
import { type Problem, about } from '../../kernel/problem.js';
import type { Renames } from '../transition/renames.js';
import { renamedToProblems } from './new-names.js';
import type { UnwrittenText } from '../transition/rename-texts.js';

/** @param to the state with the new names. `unwritten`: texts that still contain the old ones */
export const renameProblems = (to: State, renames: Renames, unwritten: readonly UnwrittenText[]): Problem[] => [
  ...renamedToProblems(renames),
  ...partitionProblems(to, renames),
  ...unwritten.map(unwrittenProblem),
];

/** PostgreSQL renames columns of partitions together with the parent's. */
function partitionProblems(to: State, { fields }: Renames): Problem[] {
  return [...fields].flatMap(([collection, names]) => {
    const node = to.collections.get(collection);
    const parent = parentOf(to, collection);
    if (node === undefined || isFolder(node) || parent === undefined) return [];
    return [...names].flatMap(([field, name]) => {
      if (node.fields.get(name)?.schema == null || fields.get(parent)?.get(field) === name) return [];
      const message = `the columns of a partition are those of ${JSON.stringify(parent)}: rename it there too`;
      return [about({ kind: 'field', collection, field: name }, message, { code: 'IN_USE' })];
    });
  });
}

function unwrittenProblem({ collection, field, path }: UnwrittenText): Problem {
  const message = 'this SQL may mention a name that changes, and can not be rewritten: change or remove it first';
  return field === undefined
    ? about({ kind: 'collection', collection, member: path }, message, { code: 'IN_USE' })
    : about({ kind: 'field', collection, field, member: path }, message, { code: 'IN_USE' });
}
