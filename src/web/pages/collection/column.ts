import type { ColumnSchema } from '../../../schema/model/model.js';

/** Null without a default. */
export function defaultText({
  default_value: value,
  generation_expression: expression,
  has_auto_increment: counts,
}: ColumnSchema): string | null {
  if (expression !== null) return `= ${expression}`;
  if (counts) return 'auto-increment';
  if (value === null) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/**
 * `not null`, `unique` … A key omits both, because it implies them.
 * @param column null for an alias: `no column`
 */
export function flagsOf(column: ColumnSchema | null): string[] {
  if (column === null) return ['no column'];
  const { is_primary_key: isKey, is_nullable: isNullable, is_unique: isUnique, is_indexed: isIndexed } = column;
  return [
    isKey && 'primary key',
    !isNullable && !isKey && 'not null',
    isUnique && !isKey && 'unique',
    isIndexed && 'indexed',
  ].filter((flag) => typeof flag === 'string');
}
