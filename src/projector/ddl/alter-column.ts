/**
 * A changed column that isn't generated, or stays as it is generated, in the order that works for every combination:
 *
 * 1. what no longer holds goes: primary key, unique, index (foreign keys in the way went with earlier events)
 * 2. DROP IDENTITY, alone: PostgreSQL checks the new type against it before it has dropped it; then a sequence of its own
 * 3. one ALTER TABLE with type, nullability, default (alter-attributes.ts)
 * 4. the new identity, alone: PostgreSQL checks the column's type before it has run step 3; then its sequence, or what
 *    the sequence of one that stays is to be; a sequence that is new to the column is set past the values of its rows
 * 5. what now holds is added: primary key, unique, index; the comment
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

/** Or of one that comes back from the trash, plain at first. */
type FieldUpdate = Change<'field.created' | 'field.updated'>;

/** Empty where nothing of the column changes. Its name stays: renames have an event of their own. */
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

/** The sequence of its identity is gone by now: the column's own may bear the same name. */
function ownSequence(change: FieldUpdate, { field }: ColumnField): Step[] {
  const needs = needsOfColumn(change, field);
  return [...createNeeds(change, needs), ...ownSequences(change, needs)];
}

/**
 * Identity, old × new: no × no and yes × yes need nothing here (a change of the type changes the sequence too), yes × no
 * is DROP IDENTITY, no × yes is this.
 */
function addIdentity(change: FieldUpdate, old: ColumnField, now: ColumnField): Step[] {
  if (!startsCounting(old, now)) return [];
  const text = sql`ALTER TABLE ${tableOf(change)} ALTER COLUMN ${ident(now.field)} ADD ${identity(now.schema)}`;
  return [
    step(text, `make ${label(now)} auto-increment`, { lock: 'ACCESS EXCLUSIVE', lock_entries: 3 }),
    ...typeIdentitySequence(change, now),
  ];
}

/** Where the column gets another sequence than it had: of an identity, or of a default. */
function countOn(change: FieldUpdate, old: ColumnField, now: ColumnField): Step[] {
  const callsSequence = (field: ColumnField): string | undefined => {
    const expression = field.schema.extras?.default;
    return expression !== undefined && /\bnextval\b/i.test(expression) ? expression : undefined;
  };
  const calls = callsSequence(now);
  const isNew = startsCounting(old, now) || (calls !== undefined && calls !== callsSequence(old));
  return isNew ? [countFromRows(change, now)] : [];
}
