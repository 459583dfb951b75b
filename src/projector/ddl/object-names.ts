/**
 * The names of a table's own constraints and indexes: the service's default names, unless they were adopted with
 * other names.
 */
import { type ColumnField, hasColumn, extrasOf, type CollectionNode, primaryKeyOf } from '../../schema/model/state.js';
import { isIdentity } from '../../schema/model/extras.js';
import {
  indexNameOf,
  primaryKeyNameOf,
  uniqueNameOf,
  identitySequenceNameOf,
} from '../../schema/model/constraint-names.js';
import { needsUnique } from './column.js';

/** The names of all constraints, indexes and sequences of the table. */
export function objectNames(node: CollectionNode): ReadonlySet<string> {
  const { constraints = [], indexes = [], needs = [] } = extrasOf(node);
  const sequences = needs.filter((need) => need.kind === 'sequence');
  return new Set([
    ...(primaryKeyOf(node).length === 0 ? [] : [primaryKeyNameOf(node)]),
    ...[...node.fields.values()].filter(hasColumn).flatMap(columnNames),
    ...[...node.relations.values()].flatMap(({ schema }) => schema?.constraint_name ?? []),
    ...[...constraints, ...indexes, ...sequences].map(({ name }) => name),
  ]);
}

function columnNames(field: ColumnField): string[] {
  const { schema } = field;
  return [
    ...(needsUnique(field) ? [uniqueNameOf(field)] : []),
    ...(schema.is_indexed ? [indexNameOf(field)] : []),
    ...(schema.is_nullable ? [] : [schema.extras?.not_null_name ?? []].flat()),
    // PostgreSQL's default name, unless another one was set.
    ...(isIdentity(schema) ? [identitySequenceNameOf(field)] : []),
  ];
}
