/** Plans ADD COLUMN, the dependent objects of a new column, and DROP COLUMN. */
import { type ColumnField, type CollectionNode, hasDefault } from '../../schema/model/state.js';
import type { Change } from './change.js';
import { type Step, dropping, partOf, step } from './step.js';
import { columnDefinition, needsUnique } from './column.js';
import { isVolatileDefault } from './default-clause.js';
import { typeIdentitySequence } from './identity-sequence.js';
import { createNeeds, needsOfColumn, ownSequences } from './needs.js';
import { keepIndexName, addPrimaryKey, addUnique, columnComment, createIndex, label, tableOf } from './parts.js';
import { ident, sql } from './sql.js';

export function columnAddition(change: Change, field: ColumnField): Step {
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
    columnAddition(change, field),
    ...typeIdentitySequence(change, field),
    ...ownSequences(change, needs),
    ...columnParts(change, field),
  ];
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

/** IF EXISTS: someone may have dropped it by hand. */
export function dropColumn(change: Change, field: ColumnField): Step {
  return step(
    sql`ALTER TABLE IF EXISTS ${tableOf(change)} DROP COLUMN IF EXISTS ${ident(field.field)}`,
    `drop column ${label(field)}`,
    {
      ...dropping(partOf(field.collection, 'column', field.field)),
      lock: 'ACCESS EXCLUSIVE',
      // Values computed from other columns can be computed again.
      loses_data: field.schema.generation_expression === null,
      lock_entries: 5,
    },
  );
}
