/**
 * Renames tables and columns in the catalog only, without touching rows. Default names follow, as if the table had been
 * created under its new name. Custom names stay.
 */
import { isAdopted, newEvent } from '../../schema/model/events.js';
import { primaryKeyNameOf, indexNameOf, notNullNameOf, uniqueNameOf } from '../../schema/model/constraint-names.js';
import { parentOf } from '../../schema/model/order.js';
import {
  type ColumnField,
  type State,
  type StoredLocation,
  collectionAt,
  extrasOf,
  hasColumn,
  type CollectionNode,
  isFolder,
  storedLocation,
  tableName,
  tableNameOf,
  withLocation,
} from '../../schema/model/state.js';
import { type Change, fieldNameOf, type Step, step, tableObject } from './step.js';
import { hasForeignKey, primaryKeyColumns } from './create-table.js';
import { renameIdentitySequence } from './identity-sequence.js';
import { checkIndexName, renamePrimaryKey, renameOwnIndex, label, tableOf } from './keys-and-indexes.js';
import { renameForeignKey } from './relation.js';
import { ident, sql, join, literal, tableOfNode } from './sql.js';
import { isIdentity } from '../../schema/model/extras.js';
import { jsonEqual } from '../../kernel/json.js';
import { needsUnique } from './column.js';

/* Renames a column's constraints and index, or changes the kind of identity, while the objects themselves stay. */

/** Returns no step if the names are equal. Objects that are created or dropped are planned elsewhere. */
export function renameParts(change: Change, old: ColumnField, now: ColumnField): Step[] {
  return [
    ...renameMarkedKey(change, old, now),
    ...renameUnique(change, old, now),
    ...renameIndex(change, old, now),
    ...renameNotNull(change, old, now),
    ...changeIdentity(change, old, now),
  ];
}

const costs = { lock: 'ACCESS EXCLUSIVE', lock_entries: 2 } as const;

function renameMarkedKey(change: Change, old: ColumnField, now: ColumnField): Step[] {
  if (!old.schema.is_primary_key || !now.schema.is_primary_key) return [];
  const { collection } = change.event;
  const [from, to] = [change.before, change.after].map(({ collections }) => collections.get(collection));
  if (from === undefined || to === undefined || !jsonEqual(primaryKeyColumns(from), primaryKeyColumns(to))) return [];
  return renamePrimaryKey(change, primaryKeyNameOf(from), primaryKeyNameOf(to));
}

/** The name of the field's table before the change. */
const tableBefore = ({ before, formerTable }: Change, { collection }: ColumnField): string =>
  formerTable ?? tableName(before, collection);

const tableAfter = ({ after }: Change, { collection }: ColumnField): string => tableName(after, collection);

function renameUnique(change: Change, old: ColumnField, now: ColumnField): Step[] {
  if (!needsUnique(old) || !needsUnique(now)) return [];
  const [from, to] = [uniqueNameOf(tableBefore(change, old), old), uniqueNameOf(tableAfter(change, now), now)];
  if (from === to) return [];
  const names = sql`${ident(from)} TO ${ident(to)}`;
  const text = sql`ALTER TABLE ${tableOf(change)} RENAME CONSTRAINT ${names}`;
  return [step(text, `rename the constraint of ${label(now)}`, costs)];
}

function renameIndex(change: Change, old: ColumnField, now: ColumnField): Step[] {
  if (!old.schema.is_indexed || !now.schema.is_indexed) return [];
  const [from, to] = [indexNameOf(tableBefore(change, old), old), indexNameOf(tableAfter(change, now), now)];
  return from === to ? [] : [renameOwnIndex(change, [from, to], `rename the index of ${label(now)}`)];
}

function renameNotNull(change: Change, old: ColumnField, now: ColumnField): Step[] {
  const [from, to] = [old, now].map(({ schema }) => schema.extras?.not_null_name);
  if (now.schema.is_nullable || (from === to && !old.schema.is_nullable)) return [];
  if (to === undefined && old.schema.is_nullable) return [];
  return nameNotNulls(change, [now], to !== undefined && !isAdopted(change.event));
}

/**
 * Renames NOT NULL constraints, which have names only from PostgreSQL 18 on. The name is read from the catalog, because
 * SET NOT NULL may have just created the constraint. PostgreSQL renames an inherited constraint only together with that of
 * the parent, and only if all inheriting tables have it under the same name and from no other parent. Otherwise it keeps
 * its name, which the log does not need to contain, or the statement fails if the change requires the name.
 */
function nameNotNulls(change: Change, columns: readonly ColumnField[], isRequired = false): Step[] {
  const named = columns.filter(({ schema }) => !schema.is_nullable);
  const [first, ...more] = named;
  if (first === undefined) return [];
  const names = named.map(
    (column) => sql`(${literal(column.field)}, ${literal(notNullNameOf(tableAfter(change, column), column))})`,
  );
  const table = sql`pg_catalog.to_regclass(${literal(tableOf(change))})`;
  const hasParentName = sql`EXISTS (SELECT FROM pg_catalog.pg_inherits i JOIN pg_catalog.pg_constraint p ON p.conrelid = i.inhparent
    WHERE i.inhrelid = ${table}::oid AND p.contype = 'n' AND p.conname = t.found)`;
  const body = sql`DECLARE t record; BEGIN
    FOR t IN SELECT c.conname AS found, w.name FROM (VALUES ${join(names, sql`, `)}) AS w (field, name)
        JOIN pg_catalog.pg_attribute a ON a.attrelid = ${table}::oid AND a.attname = w.field
        JOIN pg_catalog.pg_constraint c ON c.conrelid = a.attrelid AND c.conkey OPERATOR(pg_catalog.=) ARRAY[a.attnum]
      WHERE c.contype = 'n' AND c.conname <> w.name
    LOOP
      BEGIN EXECUTE pg_catalog.format('ALTER TABLE %s RENAME CONSTRAINT %I TO %I', ${table}, t.found, t.name);
      EXCEPTION WHEN undefined_object OR invalid_table_definition THEN
        ${isRequired ? sql`IF NOT ${hasParentName} THEN RAISE; END IF` : sql`NULL`};
      END;
    END LOOP; END`;
  const summary =
    more.length === 0
      ? `rename the NOT NULL constraint of ${label(first)}`
      : `rename NOT NULL constraints of ${first.collection}`;
  return [step(sql`DO ${literal(body)}`, summary, costs)];
}

const isAlways = ({ schema }: ColumnField): boolean => schema.extras?.identity === 'always';

function changeIdentity(change: Change, old: ColumnField, now: ColumnField): Step[] {
  if (!isIdentity(old.schema) || !isIdentity(now.schema) || isAlways(old) === isAlways(now)) return [];
  const kind = isAlways(now) ? sql`ALWAYS` : sql`BY DEFAULT`;
  const text = sql`ALTER TABLE ${tableOf(change)} ALTER COLUMN ${ident(now.field)} SET GENERATED ${kind}`;
  return [step(text, `change whether ${label(now)} accepts explicit values`, costs)];
}

/** Renames the table, moves it to another schema, or both. There is no step for a folder. */
export function planCollectionRenamed(change: Change<'collection.renamed'>): Step[] {
  const { event, before, after } = change;
  const { to } = event.data;
  const [old, now] = [before.collections.get(event.collection), after.collections.get(to)] as [
    CollectionNode,
    CollectionNode,
  ];
  if (isFolder(old)) return [];
  const [from, at] = [old, now].map((node) => storedLocation(node.collection)) as [StoredLocation, StoredLocation];
  if (from.schema === at.schema) return renameTable(change);
  const [name, newName] = [tableNameOf(old), tableNameOf(now)];
  if (name === newName && event.collection === to) return moveTable(change, to);
  // Indexes move with the table, so their new names must be free where they are renamed.
  const holder = name === newName ? undefined : collectionAt(before, from.schema, newName);
  if (holder === undefined || holder === event.collection) {
    const renamed = withTableAt(after, now, { schema: from.schema, name: newName });
    return [...renameTable({ ...change, after: renamed }), ...moveTable({ ...change, before: renamed }, to)];
  }
  const moved = withTableAt(before, old, { schema: at.schema, name });
  return [...moveTable({ ...change, after: moved }, event.collection), ...renameTable({ ...change, before: moved })];
}

const withTableAt = (state: State, node: CollectionNode, at: StoredLocation): State => {
  const { collection } = node;
  const schema = collection.schema && withLocation(collection.schema, at);
  const located = { ...node, collection: { ...collection, schema } };
  return { ...state, collections: state.collections.set(collection.collection, located) };
};

/**
 * Moves the table. PostgreSQL moves its indexes, its constraints and the sequences of its columns with it.
 * @param name the name of the collection in both states of the change
 */
function moveTable(change: Change<'collection.renamed'>, name: string): Step[] {
  const { event, before, after, schema } = change;
  const [old, now] = [before, after].map(({ collections }) => collections.get(name)) as [
    CollectionNode,
    CollectionNode,
  ];
  const to = now.collection.schema?.schema ?? schema;
  const text = sql`ALTER TABLE ${tableOfNode(old, schema)} SET SCHEMA ${ident(to)}`;
  const { indexes = [], constraints = [] } = extrasOf(now);
  const lock_entries = 6 + 3 * now.fields.size + indexes.length + 2 * constraints.length;
  const costs = { lock: 'ACCESS EXCLUSIVE', lock_entries } as const;
  // An index that is not built yet does not move, so PostgreSQL does not check its name.
  const indexed = [...now.fields.values()].filter(hasColumn).filter((field) => field.schema.is_indexed);
  return [
    step(text, `move table ${event.collection} to schema ${to}`, costs),
    ...indexed.map((field) =>
      withTableName(checkIndexName(onField({ ...change, before: after }, name, field.field), field), event.collection),
    ),
  ];
}

/**
 * Renames the table, and its parts with default names. PostgreSQL itself updates the foreign keys of other tables.
 */
function renameTable(change: Change<'collection.renamed'>): Step[] {
  const { event, before, after, schema } = change;
  const { to } = event.data;
  const [old, now] = [before.collections.get(event.collection), after.collections.get(to)] as [
    CollectionNode,
    CollectionNode,
  ];
  const text = sql`ALTER TABLE ${tableOfNode(old, schema)} RENAME TO ${ident(tableNameOf(now))}`;
  const rename = step(text, `rename table ${tableNameOf(old)} to ${tableNameOf(now)}`, {
    lock: 'ACCESS EXCLUSIVE',
    lock_entries: 6,
  });
  const columns = [...now.fields.values()].filter(hasColumn);
  const named = { ...onField(change, to, ''), formerTable: tableNameOf(old) };
  const pairs = columns.map((column): Pair => [old.fields.get(column.field) as ColumnField, column]);
  const isRenamed = tableNameOf(old) !== tableNameOf(now);
  return [
    ...(isRenamed ? [rename] : []),
    ...[
      ...(primaryKeyColumns(old).length === 0
        ? []
        : renamePrimaryKey(named, primaryKeyNameOf(old), primaryKeyNameOf(now))),
      ...pairs.flatMap((pair) => renameColumnParts(named, pair, isInherited(change, to))),
      ...(isRenamed ? nameNotNulls(named, columns) : []),
      ...renameForeignKeys(named, old, now),
    ].map((each) => withTableName(each, event.collection)),
  ];
}

/**
 * Renames the column. There is no step for an alias. On a partition or an inheriting table, PostgreSQL renames the
 * column with its parent, so only its constraints and indexes are renamed.
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
  const follows = isInherited(change, collection) || data.inherited === true;
  return [
    ...(follows ? [] : [renameColumn(change, was.field, column.field)]),
    ...renameColumnParts(named, [was, column], isInherited(change, collection)),
    ...nameNotNulls(named, [column]),
    ...renameForeignKeys(named, old, now),
  ];
}

type Pair = [old: ColumnField, now: ColumnField];

/** Returns the change as seen from the field's new name, which its statements use. */
const onField = (change: Change, collection: string, field: string): Change => ({
  ...change,
  event: newEvent('field.updated', collection, field, { patch: [] }),
});

/** Uses the old name of the table in the lock, which is taken before any statement runs. */
const withTableName = ({ costs, ...each }: Step, table: string): Step => ({
  ...each,
  costs: { ...costs, object: tableObject(table) },
});

/**
 * True for partitions. PostgreSQL renames their columns with those of their parent, and they use the parent's sequence.
 */
const isInherited = ({ after }: Change, collection: string): boolean => parentOf(after, collection) !== undefined;

function renameColumn(change: Change, from: string, to: string): Step {
  const { event } = change;
  const names = sql`${ident(from)} TO ${ident(to)}`;
  const text = sql`ALTER TABLE ${tableOf(change)} RENAME COLUMN ${names}`;
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

/** Renames the foreign keys of relations that stay. They are matched by id, because their names may change. */
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
