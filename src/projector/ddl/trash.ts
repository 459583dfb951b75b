import {
  type LogEvent,
  type RestoredField,
  type KeptTable,
  type RestoredCollection,
  newEvent,
} from '../../schema/model/events.js';
import { qualified, sql, tableIn, trash, trashOf, block, literal, type Sql, ident, join, asOwner } from './sql.js';
import {
  type Statement,
  dropOf,
  tableObject,
  type Change,
  type Step,
  step,
  type CopiedColumn,
  partOf,
} from './step.js';
import {
  type ColumnField,
  type CollectionNode,
  primaryKeyOf,
  hasColumn,
  type State,
  extrasOf,
  initialState,
  tableNameOf,
} from '../../schema/model/state.js';
import { planColumnAddition, dropColumn, alterColumn, toPlainColumn } from './alter-column.js';
import { label, rowEntries, tableOf, countFromRows } from './keys-and-indexes.js';
import { defaultExpression } from './column.js';
import { attachPartitionWithRows } from './extras.js';
import { createNeeds } from './needs.js';
import { planCollectionRenamed } from './rename.js';
import type { TableSchema } from '../../schema/model/model.js';
import { MENTIONS_NEXTVAL } from '../../schema/model/extras.js';

/*
 * A deleted table goes to a shared schema if its names are free there (src/projector/catalog/deletion-facts.ts). Every
 * other deletion has its own schema, named after the position of its event.
 */

/**
 * Creates the schema for the deletion at a position. Only its owner may use it, regardless of the default privileges.
 */
function createTrashSchema({ event }: Change, position: number): Step[] {
  const schema = trash(position);
  const body = sql`DECLARE g text; BEGIN
    IF EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE oid = ${literal(schema)}::regnamespace::oid AND nspacl IS NULL)
    THEN RETURN; END IF;
    FOR g IN SELECT DISTINCT CASE WHEN a.grantee = 0::oid THEN 'PUBLIC' ELSE a.grantee::regrole::text END
        FROM pg_catalog.pg_namespace n, pg_catalog.aclexplode(n.nspacl) a
       WHERE n.oid = ${literal(schema)}::regnamespace::oid AND a.grantee <> n.nspowner
    LOOP EXECUTE pg_catalog.format('REVOKE ALL ON SCHEMA %s FROM %s', ${literal(schema)}, g); END LOOP; END`;
  const costs = { object: tableObject(event.collection), lock: 'none', lock_entries: 2 } as const;
  return [
    step(sql`CREATE SCHEMA ${schema}`, `create the trash schema of position ${position}`, costs),
    step(sql`DO ${block(body)}`, `revoke access to it from other roles`, costs),
  ];
}

/** Drops the schema of `createTrashSchema` when it is empty. */
function dropTrashSchema({ event }: Change, position: number): Step {
  const costs = { object: tableObject(event.collection), lock: 'none', lock_entries: 2 } as const;
  return step(sql`DROP SCHEMA ${trash(position)}`, `drop the trash schema of position ${position}`, costs);
}

/*
 * Keeps the values of a dropped column with the primary key of their rows, which restores them. The copy names its
 * columns by identity, because names may change in the meantime.
 */

export const COPY = 'values';

/** SQL for the number of values in a copy, by the oid of the copy. */
export const copiedRowCount = (copy: Sql): Sql => sql`pg_catalog.obj_description(${copy}, 'pg_class')::bigint`;

export type Column = CopiedColumn;

export interface KeptColumnCopy {
  table: Sql;
  key: readonly Column[];
  column: Column;
  copy: Sql;
}

/**
 * Copies the values, and stores their number and the column privileges in comments. The copy has no indexes, because
 * it is read once and as a whole.
 */
export function copyValues({ table, key, column, copy }: KeptColumnCopy): Sql {
  const copied = [...key, column].map(({ name, identity }) => sql`t.${ident(name)} AS ${ident(identity)}`);
  const columns = join(copied, sql`, `);
  return asOwner(
    table,
    sql`CREATE TABLE ${copy} AS SELECT ${columns} FROM ${table} t;
    GET DIAGNOSTICS counted = ROW_COUNT;
    EXECUTE pg_catalog.format('COMMENT ON TABLE ${copy} IS %L', counted);
    ${notePrivileges({ table, column, copy })}`,
  );
}

/** PL/pgSQL that stores the column privileges in a comment. */
export function notePrivileges({ table, column, copy }: Omit<KeptColumnCopy, 'key'>): Sql {
  return sql`EXECUTE pg_catalog.format('COMMENT ON COLUMN ${copy}.${ident(column.identity)} IS %L', (SELECT pg_catalog.json_agg(pg_catalog.json_build_object(
        'to', coalesce(r.rolname, ''), 'privilege', p.privilege_type, 'grantable', p.is_grantable))
      FROM pg_catalog.pg_attribute a CROSS JOIN pg_catalog.aclexplode(a.attacl) p
      LEFT JOIN pg_catalog.pg_roles r ON r.oid = p.grantee
      WHERE a.attrelid = ${literal(table)}::regclass::oid AND a.attname = ${literal(column.name)}
        AND (r.oid IS NOT NULL OR p.grantee = 0::oid))::text);`;
}

const matches = (key: readonly Column[]): Sql =>
  join(
    key.map(({ name, identity }) => sql`t.${ident(name)} = k.${ident(identity)}`),
    sql` AND `,
  );

/** SQL that is true for rows of the table itself or of its partitions, and false for rows of tables that inherit from it. */
function isOwnRow(table: Sql): Sql {
  const oid = sql`${literal(table)}::regclass::oid`;
  return sql`(t.tableoid = ${oid} OR EXISTS (SELECT FROM pg_catalog.pg_class c WHERE c.oid = ${oid} AND c.relkind = 'p'))`;
}

/**
 * Copies the values back into the column, which exists again and is null. Triggers and rules of the table do not run.
 * Raises an error if a row did not get its value, because the copy is dropped afterwards. Counts the values whose row
 * no longer exists. A table may have begun to inherit from this one since then. The values do not belong to its rows.
 */
export function returnValues({ table, key, column, copy }: KeptColumnCopy, position: number): Sql {
  // IS NOT NULL would be false for a composite value with a null attribute.
  const value = sql`k.${ident(column.identity)}`;
  const kept = sql`${matches(key)} AND ${isOwnRow(table)} AND ${value} IS DISTINCT FROM NULL`;
  const update = sql`UPDATE ${table} t SET ${ident(column.name)} = ${value} FROM ${copy} k WHERE ${kept};
    GET DIAGNOSTICS counted = ROW_COUNT;
    IF counted <> (SELECT count(*) FROM ${copy} k JOIN ${table} t ON ${kept}) THEN
      RAISE EXCEPTION 'only % of the values in the trash were restored', counted;
    END IF;
    PERFORM pg_catalog.set_config(${settingOf(position)}, ((SELECT count(*) FROM ${copy} k WHERE ${value} IS DISTINCT FROM NULL) - counted)::text, true);`;
  return asOwner(table, update, { silently: true });
}

/** Grants the column privileges again, except to roles that no longer exist. */
export function returnPrivileges({ table, column, copy }: Omit<KeptColumnCopy, 'key'>): Sql {
  const location = sql`'${copy}'::regclass`;
  const noted = sql`pg_catalog.col_description(${location}, (SELECT a.attnum FROM pg_catalog.pg_attribute a
      WHERE a.attrelid = ${location}::oid AND a.attname = ${literal(column.identity)}))`;
  return sql`DO ${block(sql`DECLARE p record; BEGIN
    FOR p IN SELECT g.*, r.rolname FROM pg_catalog.json_to_recordset(${noted}::json) AS g ("to" text, privilege text, grantable boolean)
      LEFT JOIN pg_catalog.pg_roles r ON r.rolname = g."to"
      WHERE g.privilege IN ('SELECT', 'INSERT', 'UPDATE', 'REFERENCES') AND (g."to" = '' OR r.oid IS NOT NULL)
    LOOP EXECUTE pg_catalog.format('GRANT %s (%I) ON %s TO %s%s', p.privilege, ${literal(column.name)}, ${literal(table)},
      CASE WHEN p."to" = '' THEN 'PUBLIC' ELSE pg_catalog.quote_ident(p.rolname) END,
      CASE WHEN p.grantable THEN ' WITH GRANT OPTION' ELSE '' END);
    END LOOP; END`)}`;
}

/** Counts the rows of the copy, those whose row still exists, and the rows of the table up to `most`. */
export function countValues({ table, key, copy }: Omit<KeptColumnCopy, 'column'>, most: Sql): Sql {
  return sql`SELECT (SELECT count(*) FROM ${copy})::int AS kept,
    (SELECT count(*) FROM ${copy} k JOIN ${table} t ON ${matches(key)} AND ${isOwnRow(table)})::int AS met,
    (SELECT count(*) FROM (SELECT FROM ${table} LIMIT ${most}) t)::int AS rows`;
}

/* Moves a column to the trash and back. The column is dropped and created again, and its values are copied. */

/**
 * Drops a column whose values the trash keeps. The pipeline has checked that the values exist and are few enough to
 * copy.
 */
export function dropKeptColumn(change: Change<'field.deleted'>, field: ColumnField, kept_until: string): Step[] {
  const { position } = change;
  const dropped = dropColumn(change, field);
  const kept = keptCopyOf(change, position, field);
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
  const kept = keptCopyOf(change, position, field);
  const bare = toPlainColumn(field);
  return [
    planColumnAddition(change, bare),
    step(returnValues(kept, position), `restore the values of ${label(field)} from the trash`, {
      lock: 'ACCESS EXCLUSIVE',
      lock_entries: 6 + rowEntries(change, field),
    }),
    ...alterColumn(change, bare, field),
    step(returnPrivileges(kept), `restore the privileges on ${label(field)}`, { lock: 'ACCESS EXCLUSIVE' }),
    step(sql`DROP TABLE ${kept.copy}`, `remove the values of ${label(field)} from the trash`, {
      lock: 'none',
      lock_entries: 3,
    }),
    dropTrashSchema(change, position),
  ];
}

/** Uses the names of the state that has both the column and the primary key. */
function keptCopyOf(change: Change, position: number, { collection, field }: ColumnField): KeptColumnCopy {
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

/*
 * A deleted table moves to a schema of the trash with all its data, and no name in it changes. PostgreSQL is asked
 * first whether it would allow the drop. Foreign keys to tables outside are dropped, so that the trash never blocks a
 * later change.
 */

interface MoveToTrash extends Required<Pick<KeptTable, 'kept_until'>> {
  /** The partitioned table, if the table is a partition. */
  parent: string | undefined;
  lock_entries: number;
}

/** Moves a table to the trash. */
export function moveToTrash(
  change: Change<'collection.deleted'>,
  node: CollectionNode,
  { parent, kept_until, lock_entries }: MoveToTrash,
): Step[] {
  const { event, position } = change;
  const name = event.collection;
  const table = tableOf(change);
  const { publications = [], foreign_keys = [], kept_in } = event.data;
  const summary = `move table ${name} to the trash`;
  return [
    ...(parent === undefined ? [] : [detachPartition(change, parent)]),
    step(tryDrop(table), `drop table ${name}`, { lock: 'ACCESS EXCLUSIVE', lock_entries }),
    ...publications.map((each) =>
      step(
        sql`ALTER PUBLICATION ${ident(each)} DROP TABLE ONLY ${table}`,
        `remove table ${name} from publication ${each}`,
        {
          lock: 'ACCESS EXCLUSIVE',
        },
      ),
    ),
    ...(referencesOtherTables(node) || foreign_keys.length > 0 ? [dropForeignKeys(change)] : []),
    ...findColumnsWithForeignSequence(node).map((field) =>
      step(
        sql`ALTER TABLE ${table} ALTER COLUMN ${ident(field.field)} DROP DEFAULT`,
        `remove the default of ${label(field)}, which uses its own sequence`,
        {
          lock: 'ACCESS EXCLUSIVE',
        },
      ),
    ),
    ...(kept_in === undefined ? createTrashSchema(change, position) : []),
    step(sql`ALTER TABLE ${table} SET SCHEMA ${trashOf({ position, kept_in })}`, summary, {
      ...dropOf(tableObject(name)),
      lock: 'ACCESS EXCLUSIVE',
      lock_entries,
      loses_data: true,
      kept_until,
    }),
    ...renameForTrash(trashOf({ position, kept_in }), node, [tableNameOf(node), name]),
  ];
}

/**
 * Renames a table between its own name and its name in the trash, which is that of its collection. Tables of one name
 * can therefore come from two schemas, and an entry still leads to its table.
 */
function renameForTrash(
  schema: Sql,
  { collection: { collection } }: CollectionNode,
  [from, to]: [string, string],
): Step[] {
  if (from === to) return [];
  const text = sql`ALTER TABLE ${schema}.${ident(from)} RENAME TO ${ident(to)}`;
  const costs = { object: tableObject(collection), lock: 'none', lock_entries: 2 } as const;
  return [step(text, `rename table ${from} to ${to}`, costs)];
}

/** The SQLSTATE that `tryDrop` raises to roll back its trial. */
const TRIED = 'DPS01';

/**
 * Drops the table in a subtransaction and rolls back, so that PostgreSQL rejects what it would reject for a drop.
 * Moving a table to another schema always succeeds, and views would silently follow it.
 */
function tryDrop(table: Sql): Sql {
  const body = sql`BEGIN
    BEGIN DROP TABLE ${table}; RAISE EXCEPTION USING ERRCODE = ${literal(TRIED)};
    EXCEPTION WHEN SQLSTATE ${literal(TRIED)} THEN NULL; END; END`;
  return sql`DO ${block(body)}`;
}

/**
 * Detaches a partition, unless someone already detached it with direct SQL. PostgreSQL drops no partition of a table
 * that a foreign key references, but detaches it if no row references its rows.
 */
export function detachPartition(change: Change, parent: string): Step {
  const { event, before, schema } = change;
  const [whole, part] = [tableIn(before, parent, schema), tableOf(change)];
  const body = sql`BEGIN IF EXISTS (SELECT FROM pg_catalog.pg_inherits
    WHERE inhrelid = pg_catalog.to_regclass(${literal(part)})::oid AND inhparent = pg_catalog.to_regclass(${literal(whole)})::oid)
    THEN ALTER TABLE ${whole} DETACH PARTITION ${part}; END IF; END`;
  return step(sql`DO ${block(body)}`, `detach partition ${event.collection} from ${parent}`, {
    lock: 'ACCESS EXCLUSIVE',
    lock_entries: 4,
    also: [{ table: parent, lock: 'ACCESS EXCLUSIVE' }],
  });
}

function referencesOtherTables(node: CollectionNode): boolean {
  const { partition_of, constraints = [] } = extrasOf(node);
  const own = node.collection.collection;
  return partition_of !== undefined || constraints.some(({ references = own }) => references !== own);
}

/** Drops all foreign keys to other tables, including those created by hand. */
function dropForeignKeys(change: Change): Step {
  const { event } = change;
  const table = tableOf(change);
  const body = sql`DECLARE k record; BEGIN
    FOR k IN SELECT conname FROM pg_catalog.pg_constraint
      WHERE conrelid = pg_catalog.to_regclass(${literal(table)})::oid AND contype = 'f' AND confrelid <> conrelid
    LOOP EXECUTE pg_catalog.format('ALTER TABLE %s DROP CONSTRAINT %I', ${literal(table)}, k.conname); END LOOP; END`;
  const summary = `drop the foreign keys of ${event.collection}`;
  return step(sql`DO ${block(body)}`, summary, { lock: 'ACCESS EXCLUSIVE', lock_entries: 7 });
}

/** Returns columns that use a sequence of a different owner. The trash must not depend on that sequence. */
function findColumnsWithForeignSequence(node: CollectionNode): ColumnField[] {
  const own = new Set(
    (extrasOf(node).needs ?? []).flatMap((need) => (need.kind === 'sequence' ? (need.owned_by ?? []) : [])),
  );
  return [...node.fields.values()].filter(
    (field): field is ColumnField =>
      hasColumn(field) && !own.has(field.field) && MENTIONS_NEXTVAL.test(field.schema.extras?.default ?? ''),
  );
}

/** Restores a table with all its parts. Later events of the batch add foreign keys with their relations. */
export function restoreTable(change: Change, node: CollectionNode, restored: RestoredCollection): Step[] {
  const schema = ident(node.collection.schema?.schema ?? change.schema);
  const { position, name, kept_in } = restored;
  const { collection } = node.collection;
  const partition = extrasOf(node).partition_of;
  const costs = { lock: 'ACCESS EXCLUSIVE', lock_entries: 6 } as const;
  const kept = nameAtReturn(node, name);
  const isRenamed = name !== kept;
  // A renamed table first leaves the shared schema, because its new names may be in use there.
  const isMoved = isRenamed && kept_in !== undefined;
  const table = qualified(isMoved ? trash(position) : trashOf(restored), kept);
  return [
    ...(isMoved ? moveWithinTrash(change, restored) : []),
    ...(isRenamed ? renameInTrash(change, node, restored) : []),
    step(sql`ALTER TABLE ${table} SET SCHEMA ${schema}`, `restore table ${collection} from the trash`, costs),
    ...renameForTrash(schema, node, [kept, tableNameOf(node)]),
    ...(isMoved || kept_in === undefined ? [dropTrashSchema(change, position)] : []),
    ...findColumnsWithForeignSequence(node).flatMap((field) => restoreCounting(change, node, field)),
    ...(partition === undefined ? [] : attachPartitionWithRows(change, partition)),
  ];
}

/**
 * Returns the name of the table when it leaves the trash. Outside the default schema, the table is renamed afterwards.
 */
const nameAtReturn = ({ collection: { collection, schema } }: CollectionNode, name: string): string =>
  schema?.schema === undefined ? collection : name;

function moveWithinTrash(change: Change, restored: RestoredCollection): Step[] {
  const { position, name } = restored;
  const text = sql`ALTER TABLE ${qualified(trashOf(restored), name)} SET SCHEMA ${trash(position)}`;
  const costs = { lock: 'ACCESS EXCLUSIVE', lock_entries: 6 } as const;
  return [
    ...createTrashSchema(change, position),
    step(text, `move table ${name} to the trash schema of position ${position}`, costs),
  ];
}

function restoreCounting(change: Change, node: CollectionNode, field: ColumnField): Step[] {
  const value = defaultExpression(field, field.schema);
  if (value === null) return [];
  const needs = (extrasOf(node).needs ?? []).filter((need) => need.kind === 'sequence' && need.owned_by === undefined);
  const text = sql`ALTER TABLE ${tableOf(change)} ALTER COLUMN ${ident(field.field)} SET DEFAULT ${value}`;
  const summary = `make ${label(field)} auto-increment again`;
  return [
    ...createNeeds(change, needs),
    step(text, summary, { lock: 'ACCESS EXCLUSIVE' }),
    countFromRows(change, field),
  ];
}

/** Renames inside the trash, so that the old names do not collide with others. */
function renameInTrash(
  change: Change,
  node: CollectionNode,
  { position, name }: Pick<RestoredCollection, 'position' | 'name'>,
): Step[] {
  const { collection: to } = node.collection;
  const renamed = planCollectionRenamed({
    ...change,
    event: newEvent('collection.renamed', name, null, { to }) as Change<'collection.renamed'>['event'],
    schema: trash(position),
    before: stateOf(withName(node, name)),
    after: stateOf(withName(node, to)),
  });
  return renamed.map(({ costs, ...each }) => ({ ...each, costs: { ...costs, object: tableObject(to) } }));
}

/** Returns the node under another name. It has no relations, because its foreign keys were dropped. */
const withName = (node: CollectionNode, collection: string): CollectionNode => ({
  ...node,
  collection: { ...node.collection, collection, schema: removeLocation(node.collection.schema) },
  fields: new Map([...node.fields].map(([name, field]) => [name, { ...field, collection }])),
  relations: new Map(),
});

/** Returns the table schema without its location, because the trash names a table like its collection. */
function removeLocation(table: TableSchema | null): TableSchema | null {
  if (table?.schema === undefined) return table;
  const { schema: _, name: __, ...rest } = table;
  return rest;
}

function stateOf(node: CollectionNode): State {
  const empty = initialState();
  return { ...empty, collections: empty.collections.set(node.collection.collection, node) };
}

/** Drops what the trash keeps, never with CASCADE. Others must first drop the objects that they created on it. */
export function planPurges(events: readonly LogEvent[]): Statement[] {
  return events.flatMap((event, index) => {
    if (event.type !== 'trash.purged' || event.collection === null) return [];
    const { collection, field, type, data } = event;
    const object = tableObject(collection);
    const costs = { lock: 'none', locks: [], rewrites_table: false, may_fail: false, lock_entries: 6 } as const;
    const source = { event: index, type, collection, field };
    const what = field === null ? collection : `${collection}.${field}`;
    const isShared = data.kept_in !== undefined;
    return [
      {
        sql: sql`DROP TABLE IF EXISTS ${qualified(trashOf(data), field === null ? collection : COPY)}`,
        summary: `purge ${what} of position ${data.position}`,
        ...dropOf(object),
        ...costs,
        loses_data: true,
        source,
      },
      ...(isShared
        ? []
        : [
            {
              sql: sql`DROP SCHEMA IF EXISTS ${trash(data.position)}`,
              summary: `drop the trash schema of position ${data.position}`,
              object,
              drops: [],
              ...costs,
              loses_data: false,
              source,
            },
          ]),
    ];
  });
}

/* Counts restored values whose rows no longer exist. Their copy is dropped with the restore. */

export interface UnmatchedValues {
  collection: string;
  field: string;
  /** Position of the deletion. */
  position: number;
  count: number;
}

/** A setting passes the number out of the PL/pgSQL block, until the end of the transaction. */
const settingOf = (position: number): Sql => literal(`dps.unmatched_${position}`);

/** Returns the number after the restore, in the same transaction. */
export const selectUnmatched = (position: number): Sql =>
  sql`SELECT NULLIF(pg_catalog.current_setting(${settingOf(position)}, true), '')::float8 AS unmatched`;
