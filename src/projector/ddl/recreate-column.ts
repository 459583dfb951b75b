/**
 * A generated column whose expression or type changes is dropped and added again with all that hangs on it: SET
 * EXPRESSION is not there before PostgreSQL 17, and the type of a generated column can't be changed with USING.
 */
import { columnType } from '../../schema/normal-form/index.js';
import { getRelation, relationsTo } from '../../schema/state.js';
import type { Statement } from '../statement.js';
import type { Change } from './change.js';
import type { ColumnField } from './column.js';
import { hasForeignKey } from './create-table.js';
import { columnAddition, columnParts, dropColumn } from './add-column.js';
import { dropPrimaryKey } from './parts.js';
import { addForeignKey, dropForeignKey } from './relation.js';

export function mustRecreate(old: ColumnField, now: ColumnField): boolean {
  if (now.schema.generation_expression === null) return false;
  return (
    old.schema.generation_expression !== now.schema.generation_expression ||
    columnType(old.schema) !== columnType(now.schema)
  );
}

export function recreateColumn(change: Change<'field.updated'>, old: ColumnField, now: ColumnField): Statement[] {
  const { before, after } = change;
  const node = before.collections.get(now.collection);
  const outward = [getRelation(after, now.collection, now.field)].filter(hasForeignKey);
  // Foreign keys of others rest on the primary key; dropping the column must not meet them.
  const inward = now.schema.is_primary_key ? relationsTo(after, now.collection).filter(hasForeignKey) : [];
  const others = inward.filter((relation) => !outward.some((own) => own.id === relation.id));
  return [
    ...inward.map((relation) => dropForeignKey(change, relation)),
    ...(old.schema.is_primary_key && node !== undefined ? dropPrimaryKey(change, node) : []),
    dropColumn(change, old),
    columnAddition(change, now),
    ...columnParts(change, now),
    ...[...outward, ...others].map((relation) => addForeignKey(change, relation)),
  ];
}
