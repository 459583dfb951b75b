import type { ColumnSchema } from '../../model/model.js';
import { columnType } from '../../sql-text/data-types.js';
import type { Rule } from '../model.js';
import { columnsOf, isOldTable, labelOf, sized } from './common.js';

export const narrowsType: Rule = {
  code: 'NARROWS_TYPE',
  level: 'warn',
  title: 'Narrower type',
  what: 'A field gets a type with a smaller range: a smaller number, a shorter text, fewer digits, a date instead of a timestamp.',
  why: 'Values that do not fit make the change fail or are rounded. Applications that still write such values will fail.',
  safer: 'First change applications to write values that fit. Then check the existing rows with a dry run.',
  levels: 'Depends on the size of the table.',
  example: { unsafe: 'PATCH /fields/articles/title {"schema": {"max_length": 50}}' },
  aliases: { squawk: ['changing-column-type'], strong_migrations: ['change_column'] },
  field(change, planned) {
    const columns = columnsOf(change);
    if (columns === undefined || !isOldTable(planned)) return undefined;
    const { old, now } = columns;
    if (!isNarrower(old.schema, now.schema)) return undefined;
    const message = `alter column ${labelOf(now)}: ${columnType(now.schema)} holds less than ${columnType(old.schema)}`;
    return { message, field: now.field, ...sized(planned, now.collection) };
  },
};

/** Ascending within a family. */
const FAMILIES: readonly (readonly string[])[] = [
  ['smallint', 'integer', 'bigint', 'numeric'],
  ['smallint', 'integer', 'double precision'],
  ['real', 'double precision'],
  ['date', 'timestamp without time zone'],
  ['date', 'timestamp with time zone'],
  ['time without time zone', 'timestamp without time zone'],
];

const TEXTS: ReadonlySet<string> = new Set(['character', 'character varying', 'text', 'citext']);

function isNarrower(old: ColumnSchema, now: ColumnSchema): boolean {
  if (TEXTS.has(now.data_type))
    return TEXTS.has(old.data_type) && (now.max_length ?? Infinity) < (old.max_length ?? Infinity);
  if (old.data_type === 'numeric' && now.data_type === 'numeric') return hasFewerDigits(old, now);
  return FAMILIES.some((family) => {
    const [from, to] = [family.indexOf(old.data_type), family.indexOf(now.data_type)];
    return to >= 0 && from > to;
  });
}

function hasFewerDigits(old: ColumnSchema, now: ColumnSchema): boolean {
  if (now.numeric_precision === null) return false;
  if (old.numeric_precision === null) return true;
  const [from, to] = [old.numeric_scale ?? 0, now.numeric_scale ?? 0];
  return to < from || now.numeric_precision - to < old.numeric_precision - from;
}
