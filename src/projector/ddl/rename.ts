/**
 * Renames tables and columns in the catalog only, whatever the table contains. Default names follow, as if the table
 * had been created under its new name. Custom names stay.
 */
import { newEvent } from '../../schema/model/events.js';
import { primaryKeyNameOf } from '../../schema/model/constraint-names.js';
import { parentOf } from '../../schema/model/order.js';
import { type ColumnField, hasColumn, type CollectionNode, isFolder } from '../../schema/model/state.js';
import { type Change, fieldNameOf } from './change.js';
import { hasForeignKey, primaryKeyColumns } from './create-table.js';
import { renameIdentitySequence } from './identity-sequence.js';
import { renamePrimaryKey } from './parts.js';
import { renameForeignKey } from './relation.js';
import { nameNotNulls, renameIndex, renameUnique } from './rename-parts.js';
import { type Step, step, tableObject } from './step.js';
import { ident, qualified, sql } from './sql.js';

/** Empty for a folder. PostgreSQL updates the foreign keys of other tables. */
export function planCollectionRenamed(change: Change<'collection.renamed'>): Step[] {
  const { event, before, after, schema } = change;
  const { to } = event.data;
  const [old, now] = [before.collections.get(event.collection), after.collections.get(to)] as [
    CollectionNode,
    CollectionNode,
  ];
  if (isFolder(old)) return [];
  const text = sql`ALTER TABLE ${qualified(schema, event.collection)} RENAME TO ${ident(to)}`;
  const rename = step(text, `rename table ${event.collection} to ${to}`, { lock: 'ACCESS EXCLUSIVE', lock_entries: 6 });
  const columns = [...now.fields.values()].filter(hasColumn);
  const named = onField(change, to, '');
  const pairs = columns.map((column): Pair => [old.fields.get(column.field) as ColumnField, column]);
  return [
    rename,
    ...[
      ...(primaryKeyColumns(old).length === 0
        ? []
        : renamePrimaryKey(named, primaryKeyNameOf(old), primaryKeyNameOf(now))),
      ...pairs.flatMap((pair) => renameColumnParts(named, pair, isInherited(change, to))),
      ...nameNotNulls(named, columns),
      ...renameForeignKeys(named, old, now),
    ].map((each) => ofTable(each, event.collection)),
  ];
}

/**
 * Empty for an alias. On a partition, PostgreSQL renames the column with its parent, so only its constraints and
 * indexes are renamed.
 */
export function planFieldRenamed(change: Change<'field.renamed'>): Step[] {
  const { event, before, after } = change;
  const { collection, data } = event;
  const [old, now] = [before, after].map(({ collections }) => collections.get(collection)) as [
    CollectionNode,
    CollectionNode,
  ];
  const [was, column] = [old.fields.get(fieldNameOf(event)), now.fields.get(data.to)];
  if (!hasColumn(was) || !hasColumn(column)) return [];
  const named = onField(change, collection, data.to);
  return [
    ...(isInherited(change, collection) ? [] : [renameColumn(change, was.field, column.field)]),
    ...renameColumnParts(named, [was, column], isInherited(change, collection)),
    ...nameNotNulls(named, [column]),
    ...renameForeignKeys(named, old, now),
  ];
}

type Pair = [old: ColumnField, now: ColumnField];

/** The change as seen from the field's new name, which its statements use. */
const onField = (change: Change, collection: string, field: string): Change => ({
  ...change,
  event: newEvent('field.updated', collection, field, { patch: [] }),
});

/** The lock is taken before any statement runs, while the table still has its old name. */
const ofTable = ({ costs, ...each }: Step, table: string): Step => ({
  ...each,
  costs: { ...costs, object: tableObject(table) },
});

/** PostgreSQL renames the columns of partitions with those of their parent. Partitions use the parent's sequence. */
const isInherited = ({ after }: Change, collection: string): boolean => parentOf(after, collection) !== undefined;

function renameColumn({ event, schema }: Change, from: string, to: string): Step {
  const names = sql`${ident(from)} TO ${ident(to)}`;
  const text = sql`ALTER TABLE ${qualified(schema, event.collection)} RENAME COLUMN ${names}`;
  return step(text, `rename column ${event.collection}.${from} to ${to}`, {
    lock: 'ACCESS EXCLUSIVE',
    lock_entries: 4,
  });
}

function renameColumnParts(change: Change, [old, now]: Pair, inherited: boolean): Step[] {
  return [
    ...renameUnique(change, old, now),
    ...renameIndex(change, old, now),
    ...(inherited ? [] : renameIdentitySequence(change, old, now)),
  ];
}

/** Covers relations that keep their foreign key. They are matched by id, because their names may change. */
function renameForeignKeys(change: Change, old: CollectionNode, now: CollectionNode): Step[] {
  const before = new Map([...old.relations.values()].map((relation) => [relation.id, relation]));
  return [...now.relations.values()].flatMap((relation) => {
    const was = before.get(relation.id);
    if (!hasForeignKey(was) || !hasForeignKey(relation)) return [];
    return was.schema.constraint_name === relation.schema.constraint_name
      ? []
      : [renameForeignKey(change, was, relation)];
  });
}
