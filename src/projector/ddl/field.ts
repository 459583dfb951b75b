/** Decides how a created, updated or deleted field affects its column. */
import { takenFromTrash } from '../../schema/model/events.js';
import { hasColumn, getField } from '../../schema/model/state.js';
import { addColumn, dropColumn, alterColumn } from './alter-column.js';
import { type Change, fieldNameOf, type Step } from './step.js';
import { dropKeptColumn, restoreColumn } from './trash.js';

/**
 * Adds the column. Empty for an alias. If the event restores a field and there is a trash, the column comes from there
 * with its values.
 */
export function planFieldCreated(change: Change<'field.created'>): Step[] {
  const field = getField(change.after, change.event.collection, fieldNameOf(change.event));
  if (!hasColumn(field)) return [];
  const restored = takenFromTrash(change.event.data);
  return restored !== undefined && change.hasTrash ? restoreColumn(change, field, restored) : addColumn(change, field);
}

/**
 * Drops the column. Empty for an alias. If the event names an expiry and there is a trash, the values are kept;
 * otherwise they are lost.
 */
export function planFieldDeleted(change: Change<'field.deleted'>): Step[] {
  const field = getField(change.before, change.event.collection, fieldNameOf(change.event));
  if (!hasColumn(field)) return [];
  const { kept_until } = change.event.data;
  if (kept_until === undefined || !change.hasTrash) return [dropColumn(change, field)];
  return dropKeptColumn(change, field, kept_until);
}

/**
 * Empty if the column does not change. An alias that becomes a column is added. A column that becomes an alias is
 * dropped with its values.
 */
export function planFieldUpdated(change: Change<'field.updated'>): Step[] {
  const { event, before, after } = change;
  const old = getField(before, event.collection, fieldNameOf(event));
  const now = getField(after, event.collection, fieldNameOf(event));
  if (old?.schema === now?.schema) return [];
  if (!hasColumn(old)) return hasColumn(now) ? addColumn(change, now) : [];
  if (!hasColumn(now)) return [dropColumn(change, old)];
  return alterColumn(change, old, now);
}
