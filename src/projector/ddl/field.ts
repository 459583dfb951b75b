/** Fields: which way a new, changed or removed one takes to its column. */
import { getField } from '../../schema/state.js';
import type { Statement } from '../statement.js';
import { columnAddition, columnParts, dropColumn } from './add-column.js';
import { alterColumn } from './alter-column.js';
import type { Change } from './change.js';
import { type ColumnField, hasColumn } from './column.js';
import { mustRecreate, recreateColumn } from './recreate-column.js';

export function planFieldCreated(change: Change<'field.created'>): Statement[] {
  const field = getField(change.after, change.event.collection, change.event.field ?? '');
  return hasColumn(field) ? addColumn(change, field) : [];
}

export function planFieldDeleted(change: Change<'field.deleted'>): Statement[] {
  const field = getField(change.before, change.event.collection, change.event.field ?? '');
  return hasColumn(field) ? [dropColumn(change, field)] : [];
}

export function planFieldUpdated(change: Change<'field.updated'>): Statement[] {
  const { event, before, after } = change;
  const old = getField(before, event.collection, event.field ?? '');
  const now = getField(after, event.collection, event.field ?? '');
  if (old?.schema === now?.schema) return [];
  if (!hasColumn(old)) return hasColumn(now) ? addColumn(change, now) : [];
  if (!hasColumn(now)) return [dropColumn(change, old)];
  return mustRecreate(old, now) ? recreateColumn(change, old, now) : alterColumn(change, old, now);
}

/** ADD COLUMN with everything that hangs on the column: keys, unique, index, comment. */
function addColumn(change: Change<'field.created' | 'field.updated'>, field: ColumnField): Statement[] {
  return [columnAddition(change, field), ...columnParts(change, field)];
}
