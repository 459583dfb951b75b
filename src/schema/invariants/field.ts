import { quoted } from '../../kernel/quoted.js';
import { type Problem, about, problemsOfEach } from '../../kernel/problem.js';
import type { Resumable } from '../../kernel/resumable.js';
import { isExtensionType } from '../sql-text/data-types.js';
import type { CollectionNode, State } from '../model/state.js';
import type { ColumnSchema } from '../model/model.js';
import { type Fault, columnFaults } from './column.js';
import { type Grouping, groupFault } from './group.js';

/** Returns the problems of all fields of a collection, up to about `MAX_PROBLEMS`. */
export function fieldProblems(state: State, node: CollectionNode): Resumable<Problem[]> {
  const { collection } = node.collection;
  const groups = groupsIn(node);
  return problemsOfEach(node.fields.values(), ({ field, meta, schema }) => {
    const problem = (member: string[], message: string): Problem =>
      about({ kind: 'field', collection, field, member }, message);
    const group = groupFault(field, meta.group, groups);
    const grouping = group === undefined ? [] : [problem(['meta', 'group'], group)];
    if (schema === null) return grouping;
    const faults = [...columnFaults(schema), ...shadowFaults(state, schema)];
    return [...grouping, ...faults.map(([member, message]) => problem(['schema', member], message))];
  });
}

/** The group of a field is an alias field of the same collection. */
function groupsIn({ collection: { collection }, fields }: CollectionNode): Grouping {
  const parentOf = (name: string) => {
    const parent = fields.get(name);
    if (parent === undefined) return `there is no field ${quoted(name)} in ${quoted(collection)} to group under`;
    return parent.schema === null ? parent.meta : `${quoted(name)} is a column; only an alias field can group others`;
  };
  return { parentOf, sound: new Set() };
}

/**
 * Every table defines a type of its own name. Without the extension, a column of that type would contain rows of the
 * table.
 */
function shadowFaults({ collections }: State, { data_type: type }: ColumnSchema): Fault[] {
  if (!isExtensionType(type) || !collections.get(type)?.collection.schema) return [];
  return [['data_type', `${quoted(type)} is a collection here, whose table takes the name of that type`]];
}
