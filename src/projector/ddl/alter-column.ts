/*
 * Plans a changed column that is not generated, or whose generation stays the same. This order works for every
 * combination:
 *
 * 1. Drop what no longer applies: primary key, unique, index. Earlier events dropped foreign keys.
 * 2. DROP IDENTITY in its own statement: PostgreSQL checks the new type before it drops the identity. Then an owned
 * sequence.
 * 3. One ALTER TABLE for type, nullability and default. With a backfill, NOT NULL is set after the rows are filled.
 * After a new type, constraints and indexes of the table keep the meaning of their text.
 * 4. ADD IDENTITY in its own statement: PostgreSQL checks the column type before step 3 has run. Then set the
 * sequence options. A new sequence starts past the existing values.
 * 5. Add primary key, unique, index and comment.
 */
import type { Json } from '../../kernel/json.js';
import { type Backfill, sourceOf } from '../../schema/model/backfill.js';
import { isIdentity } from '../../schema/model/extras.js';
import { type ColumnField, type CollectionNode, hasDefault } from '../../schema/model/state.js';
import { type Change, type Step, step, type Costs, dropOf, partOf } from './step.js';
import {
  identity,
  needsUnique,
  columnTypeSql,
  defaultExpression,
  columnDefinition,
  isVolatileDefault,
} from './column.js';
import { fillColumn } from './backfill.js';
import { keepDefinitions } from './extras.js';
import { primaryKeyColumns } from './create-table.js';
import { changeIdentitySequence, fitIdentitySequence, typeIdentitySequence } from './identity-sequence.js';
import { createNeeds, managedTypeAsNeed, needsOfColumn, ownSequences } from './needs.js';
import {
  addPrimaryKey,
  makeColumnUnique,
  columnComment,
  countFromRows,
  dropIndex,
  dropPrimaryKey,
  dropUnique,
  label,
  tableOf,
  keepIndexName,
  addUnique,
  createIndex,
} from './keys-and-indexes.js';
import { renameParts } from './rename.js';
import { ident, sql, type Sql, join } from './sql.js';
import { needsOfNode } from '../../schema/model/order.js';
import { conversionExpression, typeChangeCosts } from './type-change.js';

/* Plans ADD COLUMN, the dependent objects of a new column, and DROP COLUMN. */

export function planColumnAddition(change: Change, field: ColumnField): Step {
  const { schema } = field;
  const everyRowDiffers =
    schema.has_auto_increment || schema.generation_expression !== null || isVolatileDefault(field, schema);
  const text = sql`ALTER TABLE ${tableOf(change)} ADD COLUMN ${columnDefinition(field)}`;
  return step(text, `add column ${label(field)}`, {
    lock: 'ACCESS EXCLUSIVE',
    rewrites_table: everyRowDiffers,
    // A computed value can overflow or be null. Without a value, existing rows violate NOT NULL.
    may_fail: schema.generation_expression !== null || (!schema.is_nullable && !hasDefault(field)),
    lock_entries: 5,
  });
}

export function addColumn(change: Change, field: ColumnField): Step[] {
  const needs = needsOfColumn(change, field.field);
  return [
    ...createNeeds(change, needs),
    planColumnAddition(change, field),
    ...typeIdentitySequence(change, field),
    ...ownSequences(change, needs),
    ...columnParts(change, field),
  ];
}

/**
 * Adds a column whose existing rows get the values of a backfill. A value, the time and a uuid are written by ADD COLUMN
 * as a temporary default: PostgreSQL rewrites no row for a constant. Other values need a plain column that is filled.
 */
export function addFilledColumn(change: Change<'field.created'>, field: ColumnField, backfill: Backfill): Step[] {
  const plain = toPlainColumn(field);
  const value = defaultOf(backfill);
  const { is_nullable } = field.schema;
  // With a default, no row is null, so PostgreSQL need not check them for NOT NULL.
  const schema = { ...plain.schema, default_value: value, is_nullable: value === null || is_nullable };
  const bare = { ...plain, schema };
  const fill = value === null ? fillColumn(change, field, backfill) : [];
  return [planColumnAddition(change, bare), ...alterColumn(change, bare, field, fill)];
}

function defaultOf(backfill: Backfill): Json {
  if ('value' in backfill) return backfill.value;
  return sourceOf(backfill) === undefined ? `${(backfill as { expression: string }).expression}()` : null;
}

/** Returns the column without everything that checks or creates values. */
export function toPlainColumn(field: ColumnField): ColumnField {
  const { collation, precision } = field.schema.extras ?? {};
  const { extras: _, ...schema } = field.schema;
  const extras = { ...(collation !== undefined && { collation }), ...(precision !== undefined && { precision }) };
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
      ...(Object.keys(extras).length > 0 && { extras }),
    },
  };
}

function columnParts(change: Change, field: ColumnField): Step[] {
  const { event, after } = change;
  const parts: Step[] = [];
  if (field.schema.is_primary_key) {
    parts.push(...addPrimaryKey(change, after.collections.get(event.collection) as CollectionNode));
  }
  if (needsUnique(field)) parts.push(addUnique(change, field));
  if (field.schema.is_indexed) parts.push(addIndex(change, field));
  if (field.schema.comment !== null) parts.push(columnComment(change, field));
  return parts;
}

/** Creates the index of a new column now, or checks that its name is free if the event defers the build. */
export function addIndex(change: Change, field: ColumnField): Step {
  return isIndexedLater(change) ? keepIndexName(change, field) : createIndex(change, field);
}

/** Checks whether the event defers the index build until after the commit. */
function isIndexedLater({ event, about }: Change): boolean {
  if (!('concurrent_indexes' in event.data) || event.data.concurrent_indexes !== true) return false;
  return about === undefined || about === event.field;
}

/** Drops a column. IF EXISTS is used because someone may have dropped it by hand. */
export function dropColumn(change: Change, field: ColumnField): Step {
  return step(
    sql`ALTER TABLE IF EXISTS ${tableOf(change)} DROP COLUMN IF EXISTS ${ident(field.field)}`,
    `drop column ${label(field)}`,
    {
      ...dropOf(partOf(field.collection, 'column', field.field)),
      lock: 'ACCESS EXCLUSIVE',
      // Values computed from other columns can be computed again.
      loses_data: field.schema.generation_expression === null,
      lock_entries: 5,
    },
  );
}

/*
 * Plans the parts of a column that one ALTER TABLE can change. Order: drop default and NOT NULL (they may not fit the
 * new type), change the type, set NOT NULL and the new default.
 *
 * NOT NULL is set directly. Adding it NOT VALID and validating it later only helps across two transactions. In one
 * transaction, the first lock is held until the commit and the rows are read once either way. If the column was
 * prepared online (src/projector/online), it is NOT NULL before this statement runs.
 */

/** Returns the attributes that the statement of a changed column sets. Tables that inherit the column get the same. */
export const changedAttributes = (old: ColumnField, now: ColumnField): ReadonlySet<Action['attribute']> =>
  new Set(attributeActions(old, now).map(({ attribute }) => attribute));

/** Returns one statement, or none if type, nullability and default stay the same. */
function alterAttributes(change: Change, old: ColumnField, now: ColumnField): Step[] {
  const actions = attributeActions(old, now);
  if (actions.length === 0) return [];
  const column = ident(now.field);
  const alterations = actions.map(({ action }) => sql`ALTER COLUMN ${column} ${action}`);
  const words = [...new Set(actions.map(({ attribute }) => attribute))].join(', ');
  const costs: Costs = { lock: 'ACCESS EXCLUSIVE', lock_entries: 8, ...attributeCosts(change, old, now) };
  const text = sql`ALTER TABLE ${tableOf(change)} ${join(alterations, sql`, `)}`;
  return [step(text, `alter column ${label(now)}: ${words}`, costs)];
}

interface Action {
  action: Sql;
  attribute: 'default' | 'nullability' | 'type';
}

function attributeActions(old: ColumnField, now: ColumnField): Action[] {
  const value = defaultChange(old, now);
  const actions: (Action | null)[] = [
    value.drops ? { attribute: 'default', action: sql`DROP DEFAULT` } : null,
    losesNotNull(old, now) ? { attribute: 'nullability', action: sql`DROP NOT NULL` } : null,
    typeChanges(old, now) ? { attribute: 'type', action: typeAction(old, now) } : null,
    setsNotNull(old, now) ? { attribute: 'nullability', action: sql`SET NOT NULL` } : null,
    value.sets === null ? null : { attribute: 'default', action: sql`SET DEFAULT ${value.sets}` },
  ];
  return actions.filter((action) => action !== null);
}

export const typeChanges = (old: ColumnField, now: ColumnField): boolean => columnTypeSql(old) !== columnTypeSql(now);

const setsNotNull = (old: ColumnField, now: ColumnField): boolean => old.schema.is_nullable && !now.schema.is_nullable;

/** True if NOT NULL must be dropped. A column keeps NOT NULL when its primary key is dropped. */
const losesNotNull = (old: ColumnField, now: ColumnField): boolean =>
  now.schema.is_nullable && (!old.schema.is_nullable || old.schema.is_primary_key);

/** A new type always sets the default again: otherwise the default keeps a cast from the old type. */
function defaultChange(old: ColumnField, now: ColumnField): { drops: boolean; sets: Sql | null } {
  const from = defaultExpression(old, old.schema);
  const to = defaultExpression(now, now.schema);
  const retyped = typeChanges(old, now);
  return { drops: from !== null && (retyped || to === null), sets: retyped || from !== to ? to : null };
}

function typeAction(old: ColumnField, now: ColumnField): Sql {
  const using = conversionExpression(old.schema, now.schema, ident(now.field));
  const type = sql`TYPE ${columnTypeSql(now)}`;
  return using === null ? type : sql`${type} USING ${using}`;
}

function attributeCosts({ event, before, after }: Change, old: ColumnField, now: ColumnField): Partial<Costs> {
  const needs = [before, after].flatMap((state) => [
    ...needsOfNode(state.collections.get(event.collection)),
    ...[old, now].flatMap((field) => managedTypeAsNeed(state, field.schema.data_type)),
  ]);
  const costs = typeChangeCosts(old.schema, now.schema, needs);
  if (!setsNotNull(old, now)) return costs;
  return { ...costs, may_fail: true, ...(!costs.may_fail && { preparable: { kind: 'not null', column: now.field } }) };
}

/** Changes the attributes around the step that fills the rows: the type before it, NOT NULL after it. */
function fillBetween(change: FieldUpdate, [old, now]: [ColumnField, ColumnField], fill: readonly Step[]): Step[] {
  const filled = { ...now, schema: { ...now.schema, is_nullable: old.schema.is_nullable || now.schema.is_nullable } };
  const preparable = fill.at(-1)?.costs.preparable;
  const required = alterAttributes(change, filled, now).map((each): Step => {
    if (each.costs.preparable?.kind !== 'not null' || preparable?.kind !== 'fill') return each;
    const { kind: _, ...column } = preparable;
    return { ...each, costs: { ...each.costs, preparable: { ...each.costs.preparable, fill: column } } };
  });
  return [...alterAttributes(change, old, filled), ...fill, ...required];
}

const startsCounting = (old: ColumnField, now: ColumnField): boolean =>
  !isIdentity(old.schema) && isIdentity(now.schema);

/** Includes a field that was restored from the trash, which is created plain. */
type FieldUpdate = Change<'field.created' | 'field.updated'>;

/**
 * Returns no steps if nothing of the column changes. Renames have their own event.
 * @param fill the steps that fill rows without a value
 */
export function alterColumn(
  change: FieldUpdate,
  old: ColumnField,
  now: ColumnField,
  fill: readonly Step[] = [],
): Step[] {
  return [
    ...dropParts(change, old, now),
    ...dropIdentity(change, old, now),
    ...createOwnSequence(change, now),
    ...fitIdentitySequence(change, old, now),
    ...(fill.length === 0 ? alterAttributes(change, old, now) : fillBetween(change, [old, now], fill)),
    ...(typeChanges(old, now) ? keepDefinitions(change, now.field) : []),
    ...addIdentity(change, old, now),
    ...changeIdentitySequence(change, old, now),
    ...advanceNewSequence(change, old, now),
    ...renameParts(change, old, now),
    ...addParts(change, old, now),
  ];
}

function primaryKeyChanges({ event, before, after }: FieldUpdate): { from: CollectionNode; to: CollectionNode } | null {
  const from = before.collections.get(event.collection) as CollectionNode;
  const to = after.collections.get(event.collection) as CollectionNode;
  return primaryKeyColumns(from).join('\0') === primaryKeyColumns(to).join('\0') ? null : { from, to };
}

function dropParts(change: FieldUpdate, old: ColumnField, now: ColumnField): Step[] {
  const key = primaryKeyChanges(change);
  const statements = key === null ? [] : dropPrimaryKey(change, key.from);
  if (needsUnique(old) && !needsUnique(now)) statements.push(dropUnique(change, old));
  if (old.schema.is_indexed && !now.schema.is_indexed) statements.push(dropIndex(change, old));
  return statements;
}

function addParts(change: FieldUpdate, old: ColumnField, now: ColumnField): Step[] {
  const key = primaryKeyChanges(change);
  const statements = key === null ? [] : addPrimaryKey(change, key.to);
  if (!needsUnique(old) && needsUnique(now)) statements.push(...makeColumnUnique(change, now));
  if (!old.schema.is_indexed && now.schema.is_indexed) statements.push(addIndex(change, now));
  if (old.schema.comment !== now.schema.comment) statements.push(columnComment(change, now));
  return statements;
}

function dropIdentity(change: FieldUpdate, old: ColumnField, now: ColumnField): Step[] {
  if (!startsCounting(now, old)) return [];
  const text = sql`ALTER TABLE ${tableOf(change)} ALTER COLUMN ${ident(now.field)} DROP IDENTITY IF EXISTS`;
  const costs = { lock: 'ACCESS EXCLUSIVE', lock_entries: 3 } as const;
  return [step(text, `remove auto-increment from ${label(now)}`, costs)];
}

/** Runs after the identity sequence was dropped, because the column's own sequence may have the same name. */
function createOwnSequence(change: FieldUpdate, { field }: ColumnField): Step[] {
  const needs = needsOfColumn(change, field);
  return [...createNeeds(change, needs), ...ownSequences(change, needs)];
}

/**
 * Adds the identity of a column that becomes an identity column. A column that stops being one uses DROP IDENTITY; a
 * type change also changes the sequence.
 */
function addIdentity(change: FieldUpdate, old: ColumnField, now: ColumnField): Step[] {
  if (!startsCounting(old, now)) return [];
  const text = sql`ALTER TABLE ${tableOf(change)} ALTER COLUMN ${ident(now.field)} ADD ${identity(now.schema)}`;
  return [
    step(text, `make ${label(now)} auto-increment`, { lock: 'ACCESS EXCLUSIVE', lock_entries: 3 }),
    ...typeIdentitySequence(change, now),
  ];
}

/** Moves a new sequence past the existing values, if the column gets one from an identity or a default. */
function advanceNewSequence(change: FieldUpdate, old: ColumnField, now: ColumnField): Step[] {
  const callsSequence = (field: ColumnField): string | undefined => {
    const expression = field.schema.extras?.default;
    return expression !== undefined && /\bnextval\b/i.test(expression) ? expression : undefined;
  };
  const calls = callsSequence(now);
  const isNew = startsCounting(old, now) || (calls !== undefined && calls !== callsSequence(old));
  return isNew ? [countFromRows(change, now)] : [];
}
