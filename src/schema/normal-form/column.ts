/** A column in normal form, from a new document or from changes to an existing one. */
import { z } from 'zod';
import { checkExpression, checkTypeText } from '../sql-text/expression.js';
import { type ColumnExtras, NEXTVAL, isIdentity } from '../model/extras.js';
import type { ColumnSchema } from '../model/model.js';
import { type Check, checkOf, complain, flag, nullableText, type Reading, Wrong } from './checks.js';
import { checkFlags } from './column-flags.js';
import { type GivenColumn, readColumnType } from './types/column-type.js';
import { dataType } from '../sql-text/data-types.js';
import { isFunctionDefault, readDefault } from './defaults/default-value.js';
import type { ColumnChange } from './column-change.js';
import { readExtras } from './column-extras.js';
import type { ColumnType } from './types/field-types.js';
import type { Json } from '../../kernel/json.js';

/** Reports what is wrong to `reading`; null when there is no column type to go on with. */
export function normaliseColumn(change: ColumnChange, reading: Reading): ColumnSchema | null {
  const { type, given, existing, existingType } = change;
  const base = existing === null || existingType !== type ? undefined : existing;
  const columnType = readColumnType({ type, given, base, checkTypeText }, reading);
  if (columnType === null) return null;
  const expression = readMember('generation_expression', given, existing, reading);
  const increments = readIncrement(change, columnType, reading);
  checkGenerated(given['is_generated'], expression, reading);
  const value = readValue(change, columnType, { expression, increments }, reading);
  const flags = readFlags(given, existing, reading);
  const column: ColumnSchema = {
    data_type: columnType.data_type,
    default_value: value,
    max_length: columnType.max_length,
    numeric_precision: columnType.numeric_precision,
    numeric_scale: columnType.numeric_scale,
    is_nullable: flags.is_nullable,
    is_unique: flags.is_unique,
    is_indexed: flags.is_indexed,
    is_primary_key: flags.is_primary_key,
    generation_expression: expression,
    has_auto_increment: increments,
    comment: readMember('comment', given, existing, reading),
  };
  const extras = extrasOf(column, change, reading);
  if (extras !== undefined) column.extras = extras;
  // PostgreSQL makes identity columns NOT NULL, whatever is asked for.
  if (increments && isIdentity(column)) column.is_nullable = false;
  checkFlags(column, given, reading);
  return column;
}

function extrasOf(column: ColumnSchema, change: ColumnChange, reading: Reading): ColumnExtras | undefined {
  if (change.given['extras'] === undefined && change.existing?.extras === undefined) return undefined;
  const { generation_expression: expression, has_auto_increment: increments, default_value: value } = column;
  return readExtras(change, { ...column, expression, increments, value }, reading);
}

type Flags = Pick<ColumnSchema, 'is_nullable' | 'is_unique' | 'is_indexed' | 'is_primary_key'>;
type PlainMember = keyof Flags | 'generation_expression' | 'has_auto_increment' | 'comment';

const NO_EXPRESSION = 'must be a scalar SQL expression, or null';

const expressionText = checkOf<string | null>(z.string().nullable(), NO_EXPRESSION, {
  normal(value) {
    if (value === null) return null;
    const text = (value as string).trim();
    const fault = text === '' ? NO_EXPRESSION : checkExpression(text);
    return fault === null ? text : new Wrong(fault);
  },
});

/** PostgreSQL keeps no empty comments. */
export const commentText = checkOf<string | null>(nullableText.shape, nullableText.message, {
  imported: (value) => (typeof value === 'number' ? String(value) : value),
  normal: (value) => (value === '' ? null : (value as string | null)),
});

/** The members that stand by themselves, and what they are in a new column that doesn't say. */
export const PLAIN_MEMBERS: {
  readonly [M in PlainMember]: { check: Check<ColumnSchema[M]>; fallback: ColumnSchema[M] };
} = {
  is_nullable: { check: flag, fallback: true },
  is_unique: { check: flag, fallback: false },
  is_indexed: { check: flag, fallback: false },
  is_primary_key: { check: flag, fallback: false },
  generation_expression: { check: expressionText, fallback: null },
  has_auto_increment: { check: flag, fallback: false },
  comment: { check: commentText, fallback: null },
};

function readMember<M extends PlainMember>(
  name: M,
  given: GivenColumn,
  existing: ColumnSchema | null,
  reading: Reading,
): ColumnSchema[M] {
  const { check, fallback } = PLAIN_MEMBERS[name];
  const before: ColumnSchema[M] = existing === null ? fallback : existing[name];
  const value = given[name];
  if (value === undefined || value === before) return before;
  const checked = check(value, reading.imported);
  if (!(checked instanceof Wrong)) return checked;
  complain(reading, ['schema', name], checked.message);
  return before;
}

function readFlags(given: GivenColumn, existing: ColumnSchema | null, reading: Reading): Flags {
  const is_primary_key = readMember('is_primary_key', given, existing, reading);
  // Being unique was part of being the primary key: it goes when the key goes.
  const before = existing?.is_primary_key === true ? { ...existing, is_unique: false } : existing;
  const is_unique = readMember('is_unique', given, before, reading);
  const is_indexed = readMember('is_indexed', given, existing, reading);
  const is_nullable = readMember('is_nullable', given, existing, reading);
  return {
    is_nullable: is_nullable && !is_primary_key,
    is_unique: is_unique || is_primary_key,
    is_indexed: is_indexed && !is_primary_key,
    is_primary_key,
  };
}

/** Whether a default is a sequence's next value: the older way to say auto increment. */
export function isSequenceDefault(value: unknown, columnType: Pick<ColumnType, 'data_type'>): boolean {
  return typeof value === 'string' && NEXTVAL.test(value) && canIncrement(columnType);
}

function canIncrement({ data_type }: Pick<ColumnType, 'data_type'>): boolean {
  return dataType(data_type)?.reported?.[1] === 0;
}

function readIncrement(
  { type, given, existing, existingType }: ColumnChange,
  columnType: ColumnType,
  reading: Reading,
): boolean {
  if (isSequenceDefault(given['default_value'], columnType)) return true;
  const able = canIncrement(columnType);
  // Another vendor's document says nothing of what goes without saying.
  const isImportedChange = reading.imported && existing !== null && existingType !== type && !able;
  const before = isImportedChange ? { ...existing, has_auto_increment: false } : existing;
  const increments = readMember('has_auto_increment', given, before, reading);
  if (!increments || able) return increments;
  const silent =
    given['has_auto_increment'] === undefined ? '; the column does so now, so say it with the new type' : '';
  const message = `must be false: only integer columns count up by themselves${silent}`;
  complain(reading, ['schema', 'has_auto_increment'], message);
  return false;
}

function checkGenerated(isGenerated: unknown, expression: string | null, reading: Reading): void {
  if (isGenerated === undefined) return;
  const checked = flag(isGenerated, reading.imported);
  if (checked instanceof Wrong) complain(reading, ['schema', 'is_generated'], checked.message);
  else if (checked !== (expression !== null)) {
    const message = checked
      ? 'must be false where there is no generation_expression'
      : 'must be true where there is a generation_expression';
    complain(reading, ['schema', 'is_generated'], `${message}, or left out`);
  }
}

interface Maker {
  expression: string | null;
  increments: boolean;
}

/** The default, unless the column makes its values in another way. */
function readValue(
  change: ColumnChange,
  columnType: ColumnType,
  { expression, increments }: Maker,
  reading: Reading,
): Json {
  if (increments) {
    if (expression !== null)
      complain(reading, ['schema', 'has_auto_increment'], 'must be false for a generated column');
    return refuseDefault(change.given, 'auto increment', reading);
  }
  if (expression !== null) return refuseDefault(change.given, 'a generation expression', reading);
  return readColumnDefault(change, columnType, reading);
}

/** Columns that make their own values have no default. One that was there before is dropped silently. */
function refuseDefault(given: GivenColumn, reason: string, reading: Reading): null {
  const value = given['default_value'];
  const isSilent = value === undefined || value === null || (typeof value === 'string' && NEXTVAL.test(value));
  if (!isSilent && !reading.imported) {
    complain(reading, ['schema', 'default_value'], `must be null: a column with ${reason} has no default`);
  }
  return null;
}

function readColumnDefault(change: ColumnChange, columnType: ColumnType, reading: Reading): Json {
  const value = change.given['default_value'];
  if (value === undefined) return carriedDefault(change, columnType, reading);
  const read = readDefault(change.type, columnType, value, { lenient: reading.imported });
  if (!(read instanceof Wrong)) return read;
  complain(reading, ['schema', 'default_value'], read.message);
  return null;
}

/** The present default, under what may be a new type: it must still say the same. */
function carriedDefault(
  { type, existing, existingType }: ColumnChange,
  columnType: ColumnType,
  reading: Reading,
): Json {
  if (existing === null || existing.default_value === null) return null;
  const read = readDefault(type, columnType, existing.default_value, { lenient: true });
  const wasCall = isFunctionDefault(existingType ?? type, existing);
  const fits = !(read instanceof Wrong) && isFunctionDefault(type, { default_value: read }) === wasCall;
  if (fits) return read;
  const present = JSON.stringify(existing.default_value);
  complain(
    reading,
    ['schema', 'default_value'],
    `is ${present} now, which doesn't fit: send a default_value (or null) with the change`,
  );
  return null;
}
