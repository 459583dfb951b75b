/** What a change of a column's type costs on a table with rows. */
import type { ColumnSchema } from '../../schema/model/model.js';
import { columnType } from '../../schema/normal-form/index.js';
import type { Statement } from './statement.js';
import { magnitude, roundsNumbers, scaleOf } from './number-shape.js';
import { hasCast, kindOf } from './type-change.js';

export type TypeChangeCosts = Pick<Statement, 'loses_data' | 'rewrites_table' | 'may_fail'>;

/** All false where the type stays as it is. */
export function typeChangeCosts(from: ColumnSchema, to: ColumnSchema): TypeChangeCosts {
  if (columnType(from) === columnType(to)) return { loses_data: false, rewrites_table: false, may_fail: false };
  return { loses_data: losesData(from, to), rewrites_table: !keepsBytes(from, to), may_fail: mayFail(from, to) };
}

/** Pairs of types with the same bytes on disk, so that PostgreSQL only notes the new type. */
function keepsBytes(from: ColumnSchema, to: ColumnSchema): boolean {
  if (from.data_type === 'numeric' && to.data_type === 'numeric') return isRoomier(from, to);
  if (kindOf(from) === 'temporal' && kindOf(to) === 'temporal') return keepsTimes(from, to);
  if (!VARIABLE_TEXT.has(from.data_type) || !VARIABLE_TEXT.has(to.data_type)) return false;
  if (to.max_length === null) return true;
  return from.data_type === 'character varying' && from.max_length !== null && to.max_length >= from.max_length;
}

const VARIABLE_TEXT = new Set(['text', 'citext', 'character varying']);

const isTimestamp = ({ data_type }: ColumnSchema): boolean => data_type.startsWith('timestamp ');

/** PostgreSQL keeps six digits of a second where none are said, and rounds to fewer. */
const MOST_DIGITS = 6;

const digitsOf = ({ extras }: ColumnSchema): number => extras?.precision ?? MOST_DIGITS;

/**
 * Our sessions run in UTC, where a timestamp with and without time zone is the same number; but PostgreSQL rounds after
 * such a cast whenever digits are said, without seeing that it needn't.
 */
function keepsTimes(from: ColumnSchema, to: ColumnSchema): boolean {
  if (from.data_type === to.data_type) return digitsOf(to) >= digitsOf(from);
  return isTimestamp(from) && isTimestamp(to) && digitsOf(to) === MOST_DIGITS;
}

/** numeric: at least as many digits, and the same number of them after the point. */
function isRoomier(from: ColumnSchema, to: ColumnSchema): boolean {
  if (to.numeric_precision === null) return true;
  if (from.numeric_precision === null) return false;
  return to.numeric_precision >= from.numeric_precision && scaleOf(to) === scaleOf(from);
}

/** Whether values can come out poorer without PostgreSQL refusing: rounded, or without their date, time or zone. */
function losesData(from: ColumnSchema, to: ColumnSchema): boolean {
  const [old, now] = [kindOf(from), kindOf(to)];
  if (now === 'number') return old !== 'boolean' && roundsNumbers(old === 'number' ? from : null, to);
  if (now === 'boolean') return old === 'number';
  if (now !== 'temporal') return false;
  // A text may say more than the type holds: a zone, a time of day, fractions of a microsecond.
  if (old === 'text') return true;
  if (partsOf(from).some((part) => !partsOf(to).includes(part))) return true;
  return partsOf(from).includes('time') && digitsOf(to) < digitsOf(from);
}

/** A moment in UTC is a day and a time, so nothing goes with its zone. */
const PARTS = new Map<string, readonly string[]>([
  ['date', ['day']],
  ['time without time zone', ['time']],
  ['time with time zone', ['time', 'zone']],
  ['timestamp without time zone', ['day', 'time']],
  ['timestamp with time zone', ['day', 'time']],
]);

const partsOf = ({ data_type }: ColumnSchema): readonly string[] => PARTS.get(data_type) ?? [];

/** Whether some value of the old type has no counterpart in the new one, so that its row refuses the change. */
function mayFail(from: ColumnSchema, to: ColumnSchema): boolean {
  const now = kindOf(to);
  if (now === 'text') return to.max_length !== null && longestText(from) > to.max_length;
  return FAILURES.get(`${kindOf(from)}>${now}`)?.(from, to) ?? now !== 'json';
}

/** From kind to kind. What isn't here goes through text, where only JSON takes everything. */
const FAILURES = new Map<string, (from: ColumnSchema, to: ColumnSchema) => boolean>([
  ['number>number', numberMayFail],
  ['number>boolean', () => false],
  ['boolean>number', (_, to) => magnitude(to) < 1],
  ['temporal>temporal', (from, to) => !hasCast(from, to)],
  ['text>json', () => true],
  ['json>json', (_, to) => to.data_type === 'jsonb'],
]);

/** NaN is a number everywhere but among the whole ones. */
function numberMayFail(from: ColumnSchema, to: ColumnSchema): boolean {
  const whole = (schema: ColumnSchema): boolean => schema.data_type.endsWith('int') || schema.data_type === 'integer';
  return magnitude(from) > magnitude(to) || (whole(to) && !whole(from));
}

const LONGEST = new Map([
  ['boolean', 5],
  ['smallint', 6],
  ['integer', 11],
  ['bigint', 20],
  ['uuid', 36],
  ['date', 13],
]);

/** Characters of the longest value, written as text. */
function longestText(schema: ColumnSchema): number {
  return schema.max_length ?? LONGEST.get(schema.data_type) ?? Infinity;
}
