/** A column in the words of PostgreSQL. */
import type { FieldDocument } from '../../service/types.js';

type Column = NonNullable<FieldDocument['schema']>;

/** `character varying(255)`, `numeric(10, 2)` */
export function columnType({
  data_type: type,
  max_length: length,
  numeric_precision: precision,
  numeric_scale: scale,
}: Column): string {
  if (length !== null) return `${type}(${length})`;
  if (type !== 'numeric' || precision === null) return type;
  return scale === null ? `${type}(${precision})` : `${type}(${precision}, ${scale})`;
}

/** Null: it has none. */
export function defaultText({
  default_value: value,
  is_generated: isGenerated,
  generation_expression: expression,
  has_auto_increment: counts,
}: Column): string | null {
  if (isGenerated) return `= ${expression ?? ''}`;
  if (counts) return 'counts up';
  if (value === null) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export function flagsOf(column: Column | null): string[] {
  if (column === null) return ['no column'];
  const { is_primary_key: isKey, is_nullable: isNullable, is_unique: isUnique, is_indexed: isIndexed } = column;
  return [
    isKey && 'primary key',
    !isNullable && !isKey && 'not null',
    isUnique && !isKey && 'unique',
    isIndexed && 'indexed',
  ].filter((flag) => typeof flag === 'string');
}
