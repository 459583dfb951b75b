import { takenFromTrash } from '../../schema/model/events.js';
import type { TableSchema } from '../../schema/model/model.js';
import { type CollectionNode, extrasOf, hasColumn, isFolder } from '../../schema/model/state.js';
import { parentOf } from '../../schema/model/order.js';
import { type Change, type Step, dropping, step, tableObject } from './step.js';
import { needsUnique } from './column.js';
import { createBareTable } from './create-table.js';
import { changeExtras, completeTable, refuseWithPartitions } from './extras.js';
import { typeIdentitySequence } from './identity-sequence.js';
import { createNeeds } from './needs.js';
import { addIndex } from './alter-column.js';
import { moveToTrash, restoreTable } from './trash.js';
import { columnComment, tableOf } from './keys-and-indexes.js';
import { type Sql, literal, sql } from './sql.js';

/**
 * Creates the table. Empty for a folder. If the event restores a table and there is a trash, the table comes from there
 * with its rows.
 */
export function planCollectionCreated(change: Change<'collection.created'>): Step[] {
  const { event, after } = change;
  const node = after.collections.get(event.collection) as CollectionNode;
  const table = node.collection.schema;
  if (table === null) return [];
  const restored = takenFromTrash(event.data);
  return restored !== undefined && change.hasTrash
    ? restoreTable(change, node, restored)
    : makeTable(change, node, table);
}

function makeTable(change: Change<'collection.created'>, node: CollectionNode, table: TableSchema): Step[] {
  const statements = [...createNeeds(change, table.extras?.needs ?? []), createTable(change, node)];
  if (table.comment !== null) statements.push(tableComment(change, table.comment));
  for (const field of node.fields.values()) {
    if (!hasColumn(field)) continue;
    statements.push(...typeIdentitySequence(change, field));
    if (field.schema.is_indexed) statements.push(addIndex(change, field));
    if (field.schema.comment !== null) statements.push(columnComment(change, field));
  }
  statements.push(...completeTable(change, node));
  return statements;
}

/** Empty, because the table already exists with all dependent objects. */
export const planCollectionAdopted = (): Step[] => [];

/** Plans comment, constraints, indexes and needs. Fields have their own events. */
export function planCollectionUpdated(change: Change<'collection.updated'>): Step[] {
  const { event, before, after } = change;
  const old = before.collections.get(event.collection)?.collection.schema;
  const now = after.collections.get(event.collection)?.collection.schema;
  if (!old || !now) return [];
  const comment = old.comment === now.comment ? [] : [tableComment(change, now.comment)];
  return [...comment, ...changeExtras(change)];
}

/**
 * Never uses CASCADE: earlier events removed all references, otherwise the drop must fail. IF EXISTS is used in all
 * deletions, because deleting an object that was dropped by hand must succeed.
 */
export function planCollectionDeleted(change: Change<'collection.deleted'>): Step[] {
  const { event, before } = change;
  const node = before.collections.get(event.collection) as CollectionNode;
  if (isFolder(node)) return [];
  const parent = parentOf(before, event.collection);
  const { kept_until } = event.data;
  const lock_entries = droppedLockEntries(node);
  if (kept_until !== undefined && change.hasTrash)
    return [...refuseWithPartitions(change, node), ...moveToTrash(change, node, { parent, kept_until, lock_entries })];
  return [
    ...refuseWithPartitions(change, node),
    step(sql`DROP TABLE IF EXISTS ${tableOf(change)}`, `drop table ${event.collection}`, {
      ...dropping(tableObject(event.collection)),
      lock: 'ACCESS EXCLUSIVE',
      loses_data: true,
      lock_entries,
      also: parent === undefined ? [] : [{ table: parent, lock: 'ACCESS EXCLUSIVE' }],
    }),
  ];
}

function createTable(change: Change<'collection.created'>, node: CollectionNode): Step {
  const name = change.event.collection;
  const costs = { lock: 'none', lock_entries: tableLockEntries(node) } as const;
  return step(createBareTable(node, change.schema), `create table ${name}`, costs);
}

/**
 * Counts the table, its row type, its TOAST table and TOAST index, one index per constraint, and one sequence per
 * identity.
 */
function tableLockEntries(node: CollectionNode): number {
  let entries = 6;
  for (const field of node.fields.values()) {
    if (!hasColumn(field)) continue;
    if (needsUnique(field) || field.schema.is_primary_key) entries += 2;
    if (field.schema.has_auto_increment) entries += 3;
  }
  return entries;
}

/** Counts the objects that are created with separate statements: other indexes and constraints. */
function droppedLockEntries(node: CollectionNode): number {
  const { indexes = [], constraints = [] } = extrasOf(node);
  const indexed = [...node.fields.values()].filter(({ schema }) => schema?.is_indexed === true);
  return tableLockEntries(node) + indexed.length + indexes.length + 2 * constraints.length;
}

function tableComment(change: Change, comment: string | null): Step {
  const { collection } = change.event;
  const text: Sql = comment === null ? sql`NULL` : literal(comment);
  return step(sql`COMMENT ON TABLE ${tableOf(change)} IS ${text}`, `comment on table ${collection}`, {
    lock: 'SHARE UPDATE EXCLUSIVE',
  });
}
