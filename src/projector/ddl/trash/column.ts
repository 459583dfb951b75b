/** Moves a column to the trash and back. The column is dropped and created again, and its values are copied. */
import type { RestoredField } from '../../../schema/model/events.js';
import { type ColumnField, type CollectionNode, primaryKeyOf } from '../../../schema/model/state.js';
import { columnAddition, dropColumn } from '../add-column.js';
import { alterColumn } from '../alter-column.js';
import type { Change } from '../change.js';
import { label, rowEntries, tableOf } from '../parts.js';
import { qualified, sql, trash } from '../sql.js';
import { type Step, partOf, step } from '../step.js';
import { createTrashSchema, dropTrashSchema } from './schema.js';
import { COPY, type Kept, copyValues, returnPrivileges, returnValues } from './values.js';

/** The pipeline has checked that the values exist and are few enough to copy. */
export function dropKeptColumn(change: Change<'field.deleted'>, field: ColumnField, kept_until: string): Step[] {
  const { position } = change;
  const dropped = dropColumn(change, field);
  const kept = keptIn(change, position, field);
  const { column, key } = kept;
  return [
    ...createTrashSchema(change, position),
    step(copyValues(kept), `keep the values of ${label(field)} in the trash`, {
      object: partOf(field.collection, 'column', field.field),
      lock: 'ACCESS EXCLUSIVE',
      lock_entries: 6 + rowEntries(change, field),
      preparable: { kind: 'copy', column, key, position },
    }),
    { ...dropped, costs: { ...dropped.costs, kept_until } },
  ];
}

/**
 * Creates the column plain and nullable, copies the values by primary key, and then adds the constraints. PostgreSQL
 * thus checks the restored values.
 */
export function restoreColumn(
  change: Change<'field.created'>,
  field: ColumnField,
  { position }: RestoredField,
): Step[] {
  const kept = keptIn(change, position, field);
  const bare = plain(field);
  return [
    columnAddition(change, bare),
    step(returnValues(kept), `restore the values of ${label(field)} from the trash`, {
      lock: 'ACCESS EXCLUSIVE',
      lock_entries: 6 + rowEntries(change, field),
    }),
    ...alterColumn(change, bare, field),
    step(returnPrivileges(kept), `restore the privileges on ${label(field)}`, { lock: 'ACCESS EXCLUSIVE' }),
    step(sql`DROP TABLE ${kept.copy}`, `leave no values of ${label(field)} in the trash`, {
      lock: 'none',
      lock_entries: 3,
    }),
    dropTrashSchema(change, position),
  ];
}

/** Uses the names of the state that has both the column and the primary key. */
function keptIn(change: Change, position: number, { collection, field }: ColumnField): Kept {
  const state = change.event.type === 'field.deleted' ? change.before : change.after;
  const node = state.collections.get(collection) as CollectionNode;
  const columnOf = (name: string) => ({ name, identity: node.identities.fields.get(name) ?? '' });
  return {
    table: tableOf(change),
    key: primaryKeyOf(node).map((each) => columnOf(each.field)),
    column: columnOf(field),
    copy: qualified(trash(position), COPY),
  };
}

function plain(field: ColumnField): ColumnField {
  const { collation } = field.schema.extras ?? {};
  const { extras: _, ...schema } = field.schema;
  return {
    ...field,
    schema: {
      ...schema,
      default_value: null,
      is_nullable: true,
      is_unique: false,
      is_indexed: false,
      is_primary_key: false,
      has_auto_increment: false,
      comment: null,
      ...(collation !== undefined && { extras: { collation } }),
    },
  };
}
