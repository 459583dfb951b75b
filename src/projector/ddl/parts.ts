/** Statements on one column's indexes, constraints and comment, shared by the planners. */
import { indexNameOf, primaryKeyNameOf, uniqueNameOf } from '../../schema/model/constraint-names.js';
import type { ColumnSchema } from '../../schema/model/model.js';
import type { ColumnField, CollectionNode } from '../../schema/model/state.js';
import { type Change, isNew } from './change.js';
import { type Step, dropping, partOf, step } from './step.js';
import { primaryKeyColumns, primaryKeyConstraint, primaryKeyDefinition } from './create-table.js';
import { columnList } from './names.js';
import { dropOwnIndex } from './own-index.js';
import { countPastRows } from './sequence.js';
import { preparableConstraint } from './preparable.js';
import { type Sql, ident, literal, qualified, sql } from './sql.js';
import { type Kind, kindOf } from './type-change.js';

/** Lock entries of a foreign key that is dropped: both tables, the constraint and its four triggers. */
export const DROPPED_KEY_ENTRIES = 7;

/** `articles.title`, for summaries. */
export const label = (field: { collection: string; field: string }): string => `${field.collection}.${field.field}`;

/** The table of the event's collection, qualified. */
export const tableOf = (change: Change): Sql => qualified(change.schema, change.event.collection);

const constraint = (change: Change, name: string) => partOf(change.event.collection, 'constraint', name);

/** Blocks writes while it is built. May fail where a value of the column can be too long for an index. */
export function createIndex(change: Change, field: ColumnField): Step {
  const { field: name } = field;
  const definition = columnList([name]);
  const text = sql`CREATE INDEX ${ident(indexNameOf(field))} ON ${tableOf(change)} ${definition}`;
  return step(text, `create index on ${label(field)}`, {
    object: partOf(change.event.collection, 'index', indexNameOf(field)),
    lock: 'SHARE',
    may_fail: canOutgrowIndex(field.schema),
    lock_entries: 2,
    preparable: { kind: 'index', name: indexNameOf(field), unique: false, definition },
  });
}

/** Bytes that an entry of a btree may have: a third of a page. */
const INDEX_ENTRY = 2_704;

/** Whether a value may be too long to be indexed; a character has at most four bytes. */
function canOutgrowIndex({ data_type, max_length, numeric_precision }: ColumnSchema): boolean {
  if (max_length !== null) return max_length * 4 > INDEX_ENTRY;
  if (data_type === 'numeric') return numeric_precision === null;
  return !FIXED_SIZE.has(kindOf({ data_type })) && data_type !== 'uuid';
}

const FIXED_SIZE: ReadonlySet<Kind> = new Set<Kind>(['number', 'boolean', 'temporal']);

/** See `dropOwnIndex`. */
export function dropIndex(change: Change, field: ColumnField): Step {
  return dropOwnIndex(change, indexNameOf(field), `drop index on ${label(field)}`);
}

/**
 * Unique on rows that may be there: the index is built while others read, under SHARE; ACCESS EXCLUSIVE is taken only to
 * make it a constraint, when there is nothing left to do but commit.
 */
export function becomeUnique(change: Change, field: ColumnField): Step[] {
  if (isNew(change, change.event.collection)) return [addUnique(change, field)];
  const name = ident(uniqueNameOf(field));
  const definition = columnList([field.field]);
  const build = sql`CREATE UNIQUE INDEX ${name} ON ${tableOf(change)} ${definition}`;
  const adopt = sql`ALTER TABLE ${tableOf(change)} ADD CONSTRAINT ${name} UNIQUE USING INDEX ${name}`;
  const summary = `make ${label(field)} unique`;
  const object = constraint(change, uniqueNameOf(field));
  const preparable = { kind: 'index', name: uniqueNameOf(field), unique: true, definition } as const;
  return [
    step(build, summary, { object, lock: 'SHARE', may_fail: true, lock_entries: 3, preparable }),
    step(adopt, `${summary} by its index`, { object, lock: 'ACCESS EXCLUSIVE' }),
  ];
}

/** Fails on rows that repeat a value; nulls don't. */
export function addUnique(change: Change, field: ColumnField): Step {
  const unique = sql`CONSTRAINT ${ident(uniqueNameOf(field))} UNIQUE (${ident(field.field)})`;
  return step(sql`ALTER TABLE ${tableOf(change)} ADD ${unique}`, `make ${label(field)} unique`, {
    object: constraint(change, uniqueNameOf(field)),
    lock: 'ACCESS EXCLUSIVE',
    may_fail: true,
    lock_entries: 3,
  });
}

/** IF EXISTS: it may have been dropped by hand. */
export function dropUnique(change: Change, field: ColumnField): Step {
  const text = sql`ALTER TABLE ${tableOf(change)} DROP CONSTRAINT IF EXISTS ${ident(uniqueNameOf(field))}`;
  const summary = `let values of ${label(field)} repeat`;
  const object = constraint(change, uniqueNameOf(field));
  return step(text, summary, { ...dropping(object), lock: 'ACCESS EXCLUSIVE', lock_entries: 3 });
}

/** The primary key of the node, if it has one; fails where rows repeat or are null. */
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
 * Empty where the node has none, or where the key is recreated with a generated column. IF EXISTS: it may have been
 * dropped by hand.
 */
export function dropPrimaryKey(change: Change, node: CollectionNode): Step[] {
  if (primaryKeyColumns(node).length === 0 || change.recreatesKey === true) return [];
  const text = sql`ALTER TABLE ${tableOf(change)} DROP CONSTRAINT IF EXISTS ${ident(primaryKeyNameOf(node))}`;
  const summary = `drop the primary key of ${change.event.collection}`;
  const object = constraint(change, primaryKeyNameOf(node));
  return [step(text, summary, { ...dropping(object), lock: 'ACCESS EXCLUSIVE', lock_entries: 3 })];
}

/** What is said of the key beside which columns are marked: its name, their order, what its index includes. */
export function changePrimaryKey(change: Change, from: CollectionNode, to: CollectionNode): Step[] {
  if (primaryKeyDefinition(from) !== primaryKeyDefinition(to)) {
    return [...dropPrimaryKey(change, from), ...addPrimaryKey(change, to)];
  }
  return primaryKeyColumns(to).length === 0
    ? []
    : renamePrimaryKey(change, primaryKeyNameOf(from), primaryKeyNameOf(to));
}

/** Empty where the names are the same. */
export function renamePrimaryKey(change: Change, from: string, to: string): Step[] {
  if (from === to) return [];
  const text = sql`ALTER TABLE ${tableOf(change)} RENAME CONSTRAINT ${ident(from)} TO ${ident(to)}`;
  const costs = { object: constraint(change, to), lock: 'ACCESS EXCLUSIVE', lock_entries: 2 } as const;
  return [step(text, `rename the primary key of ${change.event.collection}`, costs)];
}

/** Takes the comment away where the field has none. */
export function columnComment(change: Change, field: ColumnField): Step {
  const text = field.schema.comment === null ? sql`NULL` : literal(field.schema.comment);
  const column = sql`${tableOf(change)}.${ident(field.field)}`;
  const costs = { lock: 'SHARE UPDATE EXCLUSIVE' } as const;
  return step(sql`COMMENT ON COLUMN ${column} IS ${text}`, `comment on ${label(field)}`, costs);
}

/** For a column that gets a sequence while the table may have rows. */
export function countFromRows(change: Change, field: ColumnField): Step {
  const text = countPastRows(tableOf(change), field.field);
  return step(text, `set the sequence of ${label(field)} past its values`, {
    lock: 'ACCESS EXCLUSIVE',
    lock_entries: 10,
  });
}
