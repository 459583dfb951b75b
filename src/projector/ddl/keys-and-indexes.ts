import { indexNameOf, primaryKeyNameOf, uniqueNameOf } from '../../schema/model/constraint-names.js';
import { MENTIONS_NEXTVAL } from '../../schema/model/extras.js';
import type { ColumnSchema } from '../../schema/model/model.js';
import { type ColumnField, type CollectionNode, extrasOf } from '../../schema/model/state.js';
import {
  type Change,
  type Costs,
  isNew,
  locationIn,
  type Step,
  dropOf,
  partOf,
  step,
  type Preparable,
} from './step.js';
import { primaryKeyColumns, primaryKeyConstraint, primaryKeyDefinition } from './create-table.js';
import { columnList, type Sql, ident, literal, qualified, sql } from './sql.js';
import { countPastRows } from './sequence.js';
import { type Kind, kindOf } from './type-change.js';
import { type ParsedKey, parseConstraint } from '../../schema/sql-text/definitions.js';

/*
 * Statements that check which object has an index name before they use it. Index names are unique per schema, and someone may
 * have replaced our index by hand. They skip objects that are not ours.
 */

const costs = (change: Change, name: string) => ({ object: partOf(change.event.collection, 'index', name), ...LOCK });

const LOCK = { lock: 'ACCESS EXCLUSIVE', lock_entries: 2 } as const;

const relation = (change: Change, name: string): Sql =>
  sql`pg_catalog.to_regclass(${literal(qualifyInTableSchema(change, name))})`;

const ownRelation = (change: Change): Sql => sql`pg_catalog.to_regclass(${literal(tableOf(change))})`;

/** Checks that the name belongs to an index of the event's table that serves no constraint. */
const isOwn = (change: Change, name: string): Sql => sql`EXISTS (SELECT FROM pg_catalog.pg_index i
    WHERE i.indexrelid = ${relation(change, name)}::oid AND i.indrelid = ${ownRelation(change)}::oid
      AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint WHERE conindid = i.indexrelid AND contype IN ('p', 'u', 'x')))`;

const refuseTaken = (name: string): Sql => {
  const message = literal(`relation "${name}" already exists`);
  return sql`RAISE EXCEPTION USING MESSAGE = ${message}, ERRCODE = 'duplicate_table'`;
};

const block = (body: Sql): Sql => sql`DO ${literal(body)}`;

/** Drops an index if it exists. Its build may still be pending, or someone may have dropped it by hand. */
export function dropOwnIndex(change: Change, name: string, summary: string): Step {
  const drop = sql`DROP INDEX ${qualifyInTableSchema(change, name)}`;
  return step(block(sql`BEGIN IF ${isOwn(change, name)} THEN ${drop}; END IF; END`), summary, {
    ...LOCK,
    ...dropOf(partOf(change.event.collection, 'index', name)),
  });
}

/** Renames an index. A pending index will be built under its new name, so that name must be free. */
export function renameOwnIndex(change: Change, [from, to]: [string, string], summary: string): Step {
  const rename = sql`ALTER INDEX ${qualifyInTableSchema(change, from)} RENAME TO ${ident(to)}`;
  const body = sql`BEGIN IF ${isOwn(change, from)} THEN ${rename};
    ELSIF ${relation(change, to)} IS NOT NULL AND NOT ${isOwn(change, to)} THEN ${refuseTaken(to)}; END IF; END`;
  return step(block(body), summary, costs(change, to));
}

/** Checks that no other object has the name of the field's index, whose build may still be pending. */
export function checkIndexName(change: Change, field: ColumnField): Step {
  const name = indexNameOf(nameOfTable(change), field);
  const body = sql`BEGIN IF ${relation(change, name)} IS NOT NULL AND NOT ${isOwn(change, name)} THEN ${refuseTaken(name)}; END IF; END`;
  const summary = `check the name of the index on ${label(field)}`;
  return step(block(body), summary, { object: partOf(change.event.collection, 'index', name), lock: 'none' });
}

/**
 * Checks that the name of a deferred index is free, because after the commit it is too late to reject a name that is in
 * use. The column may have an invalid index of an abandoned build, which the builder has yet to remove.
 */
export function keepIndexName(change: Change, field: ColumnField): Step {
  const name = indexNameOf(nameOfTable(change), field);
  const [index, table] = [relation(change, name), ownRelation(change)];
  const body = sql`BEGIN IF ${index} IS NOT NULL AND NOT EXISTS (SELECT FROM pg_catalog.pg_index
    WHERE indexrelid = ${index}::oid AND indrelid = ${table}::oid AND NOT indisvalid) THEN ${refuseTaken(name)}; END IF; END`;
  const summary = `reserve the name of the index on ${field.collection}.${field.field}`;
  return step(block(body), summary, {
    object: partOf(change.event.collection, 'index', name),
    lock: 'none',
  });
}

/* Decides how a constraint given as text can be prepared, from the parsed text. */

/**
 * Returns how a constraint can be prepared online. Undefined if it cannot be prepared, such as EXCLUDE.
 * @param references the table that a foreign key references
 */
export function preparableConstraint(name: string, definition: Sql, references?: string): Preparable | undefined {
  const parsed = parseConstraint(definition);
  if (typeof parsed === 'string' || parsed.skipsRows) return undefined;
  const { kind, key } = parsed;
  if (kind === 'check' || kind === 'foreign key')
    return { kind: 'constraint', name, references: references ?? null, definition };
  if (key === undefined || key.more) return undefined;
  return { kind: 'key', name, type: kind === 'unique' ? 'UNIQUE' : 'PRIMARY KEY', ...keyText(key) };
}

/** Splits a key into the definition of its index and the remaining clauses of the constraint. */
function keyText({ columns, included, ...key }: ParsedKey): { definition: Sql; after: Sql } {
  const including = included.length === 0 ? sql`` : sql` INCLUDE ${columnList(included)}`;
  const nulls = key.nullsNotDistinct ? sql` NULLS NOT DISTINCT` : sql``;
  const waits = key.initiallyDeferred ? sql` DEFERRABLE INITIALLY DEFERRED` : sql` DEFERRABLE`;
  return { definition: sql`${columnList(columns)}${including}${nulls}`, after: key.deferrable ? waits : sql`` };
}

/** Number of lock entries of a dropped foreign key: both tables, the constraint and its four triggers. */
export const DROPPED_KEY_ENTRIES = 7;

export const label = (field: { collection: string; field: string }): string => `${field.collection}.${field.field}`;

export function tableOf(change: Change): Sql {
  const { schema, name } = locationIn(change, change.event.collection);
  return qualified(schema, name);
}

/** Qualifies an index or a sequence with the schema of the event's table. */
const qualifyInTableSchema = (change: Change, name: string): Sql =>
  qualified(locationIn(change, change.event.collection).schema, name);

const nameOfTable = (change: Change): string => locationIn(change, change.event.collection).name;

const constraint = (change: Change, name: string) => partOf(change.event.collection, 'constraint', name);

/** Builds an index in the transaction, which blocks writes. The build may fail if a value is too long for an index. */
export function createIndex(change: Change, field: ColumnField): Step {
  const { field: name } = field;
  const definition = columnList([name]);
  const text = sql`CREATE INDEX ${ident(indexNameOf(nameOfTable(change), field))} ON ${tableOf(change)} ${definition}`;
  return step(text, `create index on ${label(field)}`, {
    object: partOf(change.event.collection, 'index', indexNameOf(nameOfTable(change), field)),
    lock: 'SHARE',
    may_fail: canOutgrowIndex(field.schema),
    lock_entries: 2,
    preparable: { kind: 'index', name: indexNameOf(nameOfTable(change), field), unique: false, definition },
  });
}

/** Maximum size of a btree entry in bytes: a third of a page. */
const INDEX_ENTRY = 2_704;

/** True if a value may be too long to be indexed. A character has at most four bytes. */
function canOutgrowIndex({ data_type, max_length, numeric_precision }: ColumnSchema): boolean {
  if (max_length !== null) return max_length * 4 > INDEX_ENTRY;
  if (data_type === 'numeric') return numeric_precision === null;
  return !FIXED_SIZE.has(kindOf({ data_type })) && data_type !== 'uuid';
}

const FIXED_SIZE: ReadonlySet<Kind> = new Set<Kind>(['number', 'boolean', 'temporal']);

export function dropIndex(change: Change, field: ColumnField): Step {
  return dropOwnIndex(change, indexNameOf(nameOfTable(change), field), `drop index on ${label(field)}`);
}

/**
 * Makes a column unique while rows may exist. The index is built under SHARE, so that reads continue. ACCESS
 * EXCLUSIVE is only taken to turn it into a constraint, right before the commit.
 */
export function makeColumnUnique(change: Change, field: ColumnField): Step[] {
  if (isNew(change, change.event.collection)) return [addUnique(change, field)];
  const name = ident(uniqueNameOf(nameOfTable(change), field));
  const definition = columnList([field.field]);
  const build = sql`CREATE UNIQUE INDEX ${name} ON ${tableOf(change)} ${definition}`;
  const adopt = sql`ALTER TABLE ${tableOf(change)} ADD CONSTRAINT ${name} UNIQUE USING INDEX ${name}`;
  const summary = `make ${label(field)} unique`;
  const object = constraint(change, uniqueNameOf(nameOfTable(change), field));
  const preparable = {
    kind: 'index',
    name: uniqueNameOf(nameOfTable(change), field),
    unique: true,
    definition,
  } as const;
  return [
    step(build, summary, { object, lock: 'SHARE', may_fail: true, lock_entries: 3, preparable }),
    step(adopt, `${summary} using its index`, { object, lock: 'ACCESS EXCLUSIVE' }),
  ];
}

/** Adds a unique constraint. The statement fails on duplicate values. Nulls are not duplicates. */
export function addUnique(change: Change, field: ColumnField): Step {
  const unique = sql`CONSTRAINT ${ident(uniqueNameOf(nameOfTable(change), field))} UNIQUE (${ident(field.field)})`;
  return step(sql`ALTER TABLE ${tableOf(change)} ADD ${unique}`, `make ${label(field)} unique`, {
    object: constraint(change, uniqueNameOf(nameOfTable(change), field)),
    lock: 'ACCESS EXCLUSIVE',
    may_fail: true,
    lock_entries: 3,
  });
}

/** Drops a unique constraint. IF EXISTS is used because someone may have dropped it by hand. */
export function dropUnique(change: Change, field: ColumnField): Step {
  const text = sql`ALTER TABLE ${tableOf(change)} DROP CONSTRAINT IF EXISTS ${ident(uniqueNameOf(nameOfTable(change), field))}`;
  const summary = `drop the unique constraint of ${label(field)}`;
  const object = constraint(change, uniqueNameOf(nameOfTable(change), field));
  return step(text, summary, { ...dropOf(object), lock: 'ACCESS EXCLUSIVE', lock_entries: 3 });
}

/** Adds the primary key of the node, if any. The statement fails on duplicates and nulls. */
export function addPrimaryKey(change: Change, node: CollectionNode): Step[] {
  const columns = primaryKeyColumns(node);
  if (columns.length === 0 || change.recreatesKey === true) return [];
  const object = constraint(change, primaryKeyNameOf(node));
  const summary = `make ${columns.join(', ')} the primary key of ${change.event.collection}`;
  const costs = { object, lock: 'ACCESS EXCLUSIVE', may_fail: true, lock_entries: 3 } as const;
  const preparable = preparableConstraint(primaryKeyNameOf(node), primaryKeyDefinition(node));
  const text = sql`ALTER TABLE ${tableOf(change)} ADD ${primaryKeyConstraint(node)}`;
  return [step(text, summary, { ...costs, ...(preparable && { preparable }) })];
}

/**
 * Drops the primary key. Returns no step if the node has none, or if the key is recreated with a generated column. IF
 * EXISTS is used because someone may have dropped the key by hand.
 */
export function dropPrimaryKey(change: Change, node: CollectionNode): Step[] {
  if (primaryKeyColumns(node).length === 0 || change.recreatesKey === true) return [];
  const text = sql`ALTER TABLE ${tableOf(change)} DROP CONSTRAINT IF EXISTS ${ident(primaryKeyNameOf(node))}`;
  const summary = `drop the primary key of ${change.event.collection}`;
  const object = constraint(change, primaryKeyNameOf(node));
  return [step(text, summary, { ...dropOf(object), lock: 'ACCESS EXCLUSIVE', lock_entries: 3 })];
}

/** Plans the parts of the key that do not depend on marked columns: name, column order, included columns. */
export function changePrimaryKey(change: Change, from: CollectionNode, to: CollectionNode): Step[] {
  if (primaryKeyDefinition(from) !== primaryKeyDefinition(to)) {
    return [...dropPrimaryKey(change, from), ...addPrimaryKey(change, to)];
  }
  return primaryKeyColumns(to).length === 0
    ? []
    : renamePrimaryKey(change, primaryKeyNameOf(from), primaryKeyNameOf(to));
}

/** Returns no step if both names are equal. */
export function renamePrimaryKey(change: Change, from: string, to: string): Step[] {
  if (from === to) return [];
  const text = sql`ALTER TABLE ${tableOf(change)} RENAME CONSTRAINT ${ident(from)} TO ${ident(to)}`;
  const costs = { object: constraint(change, to), lock: 'ACCESS EXCLUSIVE', lock_entries: 2 } as const;
  return [step(text, `rename the primary key of ${change.event.collection}`, costs)];
}

/** Sets the comment of a column, or removes it if the field has none. */
export function columnComment(change: Change, field: ColumnField): Step {
  const text = field.schema.comment === null ? sql`NULL` : literal(field.schema.comment);
  const column = sql`${tableOf(change)}.${ident(field.field)}`;
  const costs = { lock: 'SHARE UPDATE EXCLUSIVE' } as const;
  return step(sql`COMMENT ON COLUMN ${column} IS ${text}`, `comment on ${label(field)}`, costs);
}

/** True if a sequence feeds the column. */
export const isCounting = ({ schema }: ColumnField): boolean =>
  schema.has_auto_increment || MENTIONS_NEXTVAL.test(schema.extras?.default ?? '');

/**
 * Moves the sequence of a column past the existing values. Used for a column that gets a sequence on a table that may
 * have rows, and for a table that becomes a partition of the field's table.
 */
export function countFromRows(change: Change, field: ColumnField, lock: Costs['lock'] = 'ACCESS EXCLUSIVE'): Step {
  const { schema, name } = locationIn(change, field.collection);
  const text = countPastRows(tableOf(change), field, qualified(schema, name));
  return step(text, `advance the sequence of ${label(field)} past its values`, {
    lock,
    lock_entries: 2 + rowEntries(change, { ...field, collection: change.event.collection }),
  });
}

/** Counts the lock entries for a statement that reads the rows of a field's table in PL/pgSQL. */
export function rowEntries({ event, before, after }: Change, { collection }: ColumnField): number {
  const state = event.type === 'field.deleted' ? before : after;
  const node = state.collections.get(collection) as CollectionNode;
  const { indexes = [], constraints = [] } = extrasOf(node);
  let entries = CATALOG_ENTRIES + indexes.length + constraints.length;
  for (const { schema } of node.fields.values())
    for (const has of [schema?.is_primary_key, schema?.is_unique, schema?.is_indexed]) if (has === true) entries += 1;
  return entries;
}

/**
 * Maximum number of catalogs and their indexes that such a statement locks. PostgreSQL keeps these locks until the
 * commit.
 */
const CATALOG_ENTRIES = 18;
