import { extrasOf, hasColumn, type CollectionNode } from '../../schema/model/state.js';
import type { TableExtras } from '../../schema/model/extras.js';
import { jsonEqual } from '../../kernel/json.js';
import { parentOf } from '../../schema/model/order.js';
import {
  constraintColumns,
  hasIndexExpression,
  indexColumns,
  parseConstraint,
} from '../../schema/sql-text/definitions.js';
import { isSameText } from '../../schema/sql-text/compare-and-rename.js';
import { type Change, isNew, locationIn, type Step, dropOf, partOf, step } from './step.js';
import { createNeeds, freeSequences, isReady, ownSequences } from './needs.js';
import {
  dropOwnIndex,
  preparableConstraint,
  DROPPED_KEY_ENTRIES,
  changePrimaryKey,
  countFromRows,
  isCounting,
  tableOf,
} from './keys-and-indexes.js';
import {
  type Sql,
  block,
  constraintDefinition,
  ident,
  indexDefinition,
  join,
  literal,
  partitionBound,
  qualified,
  scratch,
  sql,
} from './sql.js';

export type Constraint = NonNullable<TableExtras['constraints']>[number];
export type Index = NonNullable<TableExtras['indexes']>[number];

const byName = <T extends { name: string }>(items: readonly T[] = []) =>
  new Map(items.map((item) => [item.name, item]));

/** Completes a new table except for its foreign keys, which relation.ts adds. */
export function completeTable(change: Change<'collection.created'>, node: CollectionNode): Step[] {
  const { constraints = [], indexes = [], needs = [], partition_of: partition } = extrasOf(node);
  return [
    ...ownSequences(change, needs),
    ...constraints
      .filter((each) => each.references === undefined || mustPrecedeAttaching(change, each))
      .map((each) => addConstraint(change, each)),
    ...indexes.map((each) => createIndex(change, each)),
    ...(partition === undefined ? [] : [attachPartition(change, partition)]),
  ];
}

/**
 * True for a foreign key that the partitioned table already has. If it were added after attaching, PostgreSQL would
 * create it on the partition under its own name.
 */
export function mustPrecedeAttaching(change: Change, { references, definition }: Constraint): boolean {
  const { event, before, after } = change;
  const parent = parentOf(after, event.collection);
  if (references === undefined || parent === undefined || isNew(change, parent)) return false;
  const above = extrasOf(before.collections.get(parent)).constraints ?? [];
  return before.collections.has(references) && isAmong(above, definition);
}

/**
 * Plans the differences in the extras of an existing table. Partitioning never changes, except that a repair attaches
 * a partition again.
 */
export function changeExtras(change: Change<'collection.updated'>): Step[] {
  const [before, node] = [change.before, change.after].map(({ collections }) =>
    collections.get(change.event.collection),
  ) as [CollectionNode, CollectionNode];
  const [old, now] = [extrasOf(before), extrasOf(node)];
  if (old === now) return [];
  const constraints = changes(old.constraints, now.constraints);
  const indexes = changes(old.indexes, now.indexes);
  const fresh = (now.needs ?? []).filter((need) => !old.needs?.some((each) => jsonEqual(each, need)));
  const needs = fresh.filter((need) => isReady(need, node));
  return [
    ...constraints.oldOnly.filter((each) => !isInherited(change, each)).map((each) => dropConstraint(change, each)),
    ...indexes.oldOnly.map((each) => dropIndex(change, each)),
    ...(jsonEqual(old.primary_key, now.primary_key) ? [] : changePrimaryKey(change, before, node)),
    ...createNeeds(change, needs),
    ...freeSequences(change, old.needs ?? [], now.needs ?? []),
    ...ownSequences(change, needs),
    ...constraints.newOnly.map((each) => addConstraint(change, each)),
    ...indexes.newOnly.map((each) => createIndex(change, each)),
    ...(old.partition_of === undefined && now.partition_of !== undefined
      ? attachPartitionWithRows(change, now.partition_of)
      : []),
  ];
}

function changes<T extends { name: string }>(old: readonly T[] | undefined, now: readonly T[] | undefined) {
  const [before, after] = [byName(old), byName(now)];
  return {
    oldOnly: [...before.values()].filter((each) => !jsonEqual(each, after.get(each.name))),
    newOnly: [...after.values()].filter((each) => !jsonEqual(each, before.get(each.name))),
  };
}

/** True if a partition inherits the foreign key. PostgreSQL drops it together with that of the parent. */
export function isInherited({ event, before }: Change, { references, definition }: Constraint): boolean {
  if (references === undefined) return false;
  const above = extrasOf(before.collections.get(parentOf(before, event.collection) ?? ''));
  return isAmong(above.constraints ?? [], definition);
}

const isAmong = (constraints: readonly Constraint[], definition: string): boolean =>
  constraints.some((each) => isSameText('constraint', each.definition, definition));

/**
 * Adds a constraint. The statement fails if existing rows violate it.
 * @throws UnsafeSqlError if the definition is anything but a constraint
 */
export function addConstraint(change: Change, { name, definition, references }: Constraint): Step {
  const text = sql`ALTER TABLE ${tableOf(change)} ADD CONSTRAINT ${ident(name)} ${constraintDefinition(definition)}`;
  const lock = references === undefined ? 'ACCESS EXCLUSIVE' : 'SHARE ROW EXCLUSIVE';
  const also = references === undefined ? [] : [{ table: references, lock: 'SHARE ROW EXCLUSIVE' } as const];
  const object = partOf(change.event.collection, 'constraint', name);
  const preparable = preparableConstraint(name, constraintDefinition(definition), references);
  const costs = { object, lock, may_fail: true, lock_entries: 4, also, ...(preparable && { preparable }) } as const;
  return step(text, `add constraint ${name} to ${change.event.collection}`, costs);
}

/** Drops a constraint. IF EXISTS is used because someone may have dropped its column or table by hand. */
export function dropConstraint(change: Change, { name, references }: Constraint): Step {
  const text = sql`ALTER TABLE IF EXISTS ${tableOf(change)} DROP CONSTRAINT IF EXISTS ${ident(name)}`;
  const also = references === undefined ? [] : [{ table: references, lock: 'ACCESS EXCLUSIVE' } as const];
  const object = partOf(change.event.collection, 'constraint', name);
  const lock_entries = references === undefined ? 4 : DROPPED_KEY_ENTRIES;
  const costs = { ...dropOf(object), lock: 'ACCESS EXCLUSIVE', lock_entries, also } as const;
  return step(text, `drop constraint ${name} of ${change.event.collection}`, costs);
}

/**
 * Creates an index. The statement may fail on existing rows.
 * @throws UnsafeSqlError if the definition is anything but an index
 */
export function createIndex(change: Change, index: Index): Step {
  const { name, unique, definition } = index;
  const text = createIndexOn(tableOf(change), index);
  const object = partOf(change.event.collection, 'index', name);
  const preparable = { kind: 'index', name, unique: unique === true, definition: indexDefinition(definition) } as const;
  const costs = { object, lock: 'SHARE', may_fail: true, lock_entries: 2, preparable } as const;
  return step(text, `create index ${name} on ${change.event.collection}`, costs);
}

const createIndexOn = (table: Sql, { name, unique, definition }: Index): Sql =>
  sql`CREATE ${unique === true ? sql`UNIQUE ` : sql``}INDEX ${ident(name)} ON ${table} ${indexDefinition(definition)}`;

export function dropIndex(change: Change, { name }: Index): Step {
  return dropOwnIndex(change, name, `drop index ${name} of ${change.event.collection}`);
}

/**
 * Attaches an existing table as a partition.
 * @throws UnsafeSqlError if the bounds are anything but partition bounds
 */
function attachPartition(change: Change, { table, bound }: NonNullable<TableExtras['partition_of']>): Step {
  const { schema, name } = locationIn(change, table);
  const parent = qualified(schema, name);
  const text = sql`ALTER TABLE ${parent} ATTACH PARTITION ${tableOf(change)} ${partitionBound(bound)}`;
  const also = [{ table, lock: 'SHARE UPDATE EXCLUSIVE' }] as const;
  const costs = { lock: 'none', lock_entries: 6, also } as const;
  return step(text, `make ${change.event.collection} a partition of ${table}`, costs);
}

/** Rejects the deletion of a table with unmanaged partitions, because DROP TABLE silently drops them. */
export function refuseWithPartitions(change: Change, node: CollectionNode): Step[] {
  if (extrasOf(node).partition_by === undefined) return [];
  const oid = sql`pg_catalog.to_regclass(${literal(tableOf(change))})`;
  const hasPartitions = sql`EXISTS (SELECT FROM pg_catalog.pg_inherits WHERE inhparent = ${oid}::oid)`;
  const body = sql`BEGIN IF ${hasPartitions} THEN
    RAISE EXCEPTION 'the table still has partitions' USING ERRCODE = 'dependent_objects_still_exist'; END IF; END`;
  const summary = `check that ${change.event.collection} has no partitions`;
  return [step(sql`DO ${literal(body)}`, summary, { lock: 'none', lock_entries: 1 })];
}

/** The sequences of the tables above may be behind the rows of the partition. */
export function attachPartitionWithRows(change: Change, partition: NonNullable<TableExtras['partition_of']>): Step[] {
  const steps = [attachPartition(change, partition)];
  const { collections } = change.after;
  for (let above: string | undefined = partition.table; above !== undefined; above = parentOf(change.after, above)) {
    const fields = [...(collections.get(above)?.fields.values() ?? [])].filter(hasColumn);
    steps.push(...fields.filter(isCounting).map((field) => countFromRows(change, field)));
  }
  return steps;
}

/*
 * When a column gets a new type, PostgreSQL rewrites the constraints and indexes that use it, with casts from the new type. After
 * several new types, such a definition can differ from the one that the stored text would get now: `amount > 0` of a
 * numeric column becomes `amount::numeric > 0` for an integer column, and stays so for a real column.
 */

/** Returns the step that creates those constraints and indexes again whose definition differs from their stored text. */
export function keepDefinitions(change: Change, column: string): Step[] {
  const { constraints = [], indexes = [] } = extrasOf(change.after.collections.get(change.event.collection));
  const isUsed = (columns: ReadonlySet<string>): boolean =>
    columns.has(column) && ![...columns].some((each) => change.recreated?.has(each) === true);
  const checks = constraints.filter(
    ({ definition }) => hasExpression(definition) && isUsed(constraintColumns(definition)),
  );
  const own = indexes.filter(({ definition }) => hasIndexExpression(definition) && isUsed(indexColumns(definition)));
  if (checks.length === 0 && own.length === 0) return [];
  const { schema, name } = locationIn(change, change.event.collection);
  // The copy has the table's own name, which a definition may contain.
  const [table, copy] = [tableOf(change), scratch(name)];
  const body = sql`DECLARE expected text; found text; note text; BEGIN
    CREATE TABLE ${copy} (LIKE ${table});
    ${join(
      [
        ...checks.map((each) => keepConstraint(table, copy, each)),
        ...own.map((each) => keepIndex({ table, copy, schema }, each)),
      ],
      sql`
    `,
    )}
    DROP TABLE ${copy};
  END`;
  const names = [...checks, ...own].map((each) => each.name).join(', ');
  const costs = { lock: 'ACCESS EXCLUSIVE', lock_entries: 4 + 4 * (checks.length + own.length) } as const;
  return [step(sql`DO ${block(body)}`, `keep the definitions of ${names} on ${change.event.collection}`, costs)];
}

function hasExpression(definition: string): boolean {
  const parsed = parseConstraint(definition);
  return typeof parsed !== 'string' && (parsed.kind === 'check' || parsed.kind === 'exclusion');
}

/** The tables that inherit a constraint lose it with their parent, unless they also have it as their own. */
function keepConstraint(table: Sql, copy: Sql, { name, definition }: Constraint): Sql {
  const text = constraintDefinition(definition);
  const isOf = (of: Sql): Sql => sql`c.conrelid = ${literal(of)}::regclass::oid AND c.conname = ${literal(name)}`;
  return sql`ALTER TABLE ${copy} ADD CONSTRAINT ${ident(name)} ${text};
    SELECT pg_catalog.pg_get_constraintdef(c.oid) INTO expected FROM pg_catalog.pg_constraint c WHERE ${isOf(copy)};
    SELECT pg_catalog.pg_get_constraintdef(c.oid), pg_catalog.obj_description(c.oid, 'pg_constraint') INTO found, note
      FROM pg_catalog.pg_constraint c
     WHERE ${isOf(table)} AND c.coninhcount = 0 AND NOT EXISTS (SELECT FROM pg_catalog.pg_inherits i
       JOIN pg_catalog.pg_constraint k ON k.conrelid = i.inhrelid AND k.conname = c.conname AND k.conislocal WHERE i.inhparent = c.conrelid);
    IF found <> expected THEN
      ALTER TABLE ${table} DROP CONSTRAINT ${ident(name)};
      ALTER TABLE ${table} ADD CONSTRAINT ${ident(name)} ${text};
      ${commentAgain(sql`CONSTRAINT ${ident(name)} ON ${table}`)}
    END IF;`;
}

/** Leaves indexes with properties that CREATE INDEX does not give: those of partitions, and the replica identity. */
function keepIndex({ table, copy, schema }: { table: Sql; copy: Sql; schema: string }, index: Index): Sql {
  const name = qualified(schema, index.name);
  const definition = sql`pg_catalog.substr(d.text, pg_catalog.strpos(d.text, ' USING '))`;
  return sql`${createIndexOn(copy, index)};
    SELECT ${definition} INTO expected FROM pg_catalog.pg_get_indexdef(${literal(scratch(index.name))}::regclass::oid) d (text);
    SELECT ${definition}, pg_catalog.obj_description(c.oid, 'pg_class') INTO found, note
      FROM pg_catalog.pg_class c JOIN pg_catalog.pg_index i ON i.indexrelid = c.oid, pg_catalog.pg_get_indexdef(c.oid) d (text)
     WHERE c.oid = pg_catalog.to_regclass(${literal(name)})::oid AND i.indrelid = ${literal(table)}::regclass::oid
       AND c.relkind = 'i' AND NOT c.relispartition AND c.reltablespace = 0::oid AND NOT i.indisreplident AND NOT i.indisclustered
       AND NOT EXISTS (SELECT FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND coalesce(a.attstattarget, -1) >= 0);
    IF found <> expected THEN
      DROP INDEX ${name};
      ${createIndexOn(table, index)};
      ${commentAgain(sql`INDEX ${name}`)}
    END IF;`;
}

const commentAgain = (object: Sql): Sql =>
  sql`IF note IS NOT NULL THEN EXECUTE pg_catalog.format('COMMENT ON %s IS %L', ${literal(object)}, note); END IF;`;
