/**
 * Plans a changed column that is not generated, or whose generation stays the same. This order works for every
 * combination:
 *
 * 1. Drop what no longer applies: primary key, unique, index. Earlier events dropped foreign keys.
 * 2. DROP IDENTITY in its own statement: PostgreSQL checks the new type before it drops the identity. Then an owned
 * sequence.
 * 3. One ALTER TABLE for type, nullability and default (alter-attributes.ts).
 * 4. ADD IDENTITY in its own statement: PostgreSQL checks the column type before step 3 has run. Then set the
 * sequence options. A new sequence starts past the existing values.
 * 5. Add primary key, unique, index and comment.
 */
import { isIdentity } from '../../schema/model/extras.js';
import type { ColumnField, CollectionNode } from '../../schema/model/state.js';
import { addIndex } from './add-column.js';
import { alterAttributes } from './alter-attributes.js';
import type { Change } from './change.js';
import { type Step, step } from './step.js';
import { identity, needsUnique } from './column.js';
import { primaryKeyColumns } from './create-table.js';
import { changeIdentitySequence, fitIdentitySequence, typeIdentitySequence } from './identity-sequence.js';
import { createNeeds, needsOfColumn, ownSequences } from './needs.js';
import {
  addPrimaryKey,
  becomeUnique,
  columnComment,
  countFromRows,
  dropIndex,
  dropPrimaryKey,
  dropUnique,
  label,
  tableOf,
} from './parts.js';
import { renameParts } from './rename-parts.js';
import { ident, sql } from './sql.js';

const startsCounting = (old: ColumnField, now: ColumnField): boolean =>
  !isIdentity(old.schema) && isIdentity(now.schema);

/** Includes a field that was restored from the trash, which is created plain. */
type FieldUpdate = Change<'field.created' | 'field.updated'>;

/** Empty if nothing of the column changes. Renames have their own event. */
export function alterColumn(change: FieldUpdate, old: ColumnField, now: ColumnField): Step[] {
  return [
    ...dropParts(change, old, now),
    ...dropIdentity(change, old, now),
    ...ownSequence(change, now),
    ...fitIdentitySequence(change, old, now),
    ...alterAttributes(change, old, now),
    ...addIdentity(change, old, now),
    ...changeIdentitySequence(change, old, now),
    ...countOn(change, old, now),
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
  if (!needsUnique(old) && needsUnique(now)) statements.push(...becomeUnique(change, now));
  if (!old.schema.is_indexed && now.schema.is_indexed) statements.push(addIndex(change, now));
  if (old.schema.comment !== now.schema.comment) statements.push(columnComment(change, now));
  return statements;
}

function dropIdentity(change: FieldUpdate, old: ColumnField, now: ColumnField): Step[] {
  if (!startsCounting(now, old)) return [];
  const text = sql`ALTER TABLE ${tableOf(change)} ALTER COLUMN ${ident(now.field)} DROP IDENTITY IF EXISTS`;
  const costs = { lock: 'ACCESS EXCLUSIVE', lock_entries: 3 } as const;
  return [step(text, `make ${label(now)} no longer auto-increment`, costs)];
}

/** The identity sequence is already dropped, because the column's own sequence may have the same name. */
function ownSequence(change: FieldUpdate, { field }: ColumnField): Step[] {
  const needs = needsOfColumn(change, field);
  return [...createNeeds(change, needs), ...ownSequences(change, needs)];
}

/**
 * Only a column that becomes an identity column needs this. A column that stops being one uses DROP IDENTITY; a type
 * change also changes the sequence.
 */
function addIdentity(change: FieldUpdate, old: ColumnField, now: ColumnField): Step[] {
  if (!startsCounting(old, now)) return [];
  const text = sql`ALTER TABLE ${tableOf(change)} ALTER COLUMN ${ident(now.field)} ADD ${identity(now.schema)}`;
  return [
    step(text, `make ${label(now)} auto-increment`, { lock: 'ACCESS EXCLUSIVE', lock_entries: 3 }),
    ...typeIdentitySequence(change, now),
  ];
}

/** Applies if the column gets another sequence, from an identity or a default. */
function countOn(change: FieldUpdate, old: ColumnField, now: ColumnField): Step[] {
  const callsSequence = (field: ColumnField): string | undefined => {
    const expression = field.schema.extras?.default;
    return expression !== undefined && /\bnextval\b/i.test(expression) ? expression : undefined;
  };
  const calls = callsSequence(now);
  const isNew = startsCounting(old, now) || (calls !== undefined && calls !== callsSequence(old));
  return isNew ? [countFromRows(change, now)] : [];
}
