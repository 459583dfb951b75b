/** Flags that contradict the key or auto-increment of a column. */
import { isIdentity } from '../model/extras.js';
import type { ColumnSchema } from '../model/model.js';
import type { Fault } from './checks.js';
import type { ColumnChange } from './column-change.js';

type Flag = 'is_nullable' | 'is_unique' | 'is_indexed';
type Rule = readonly [member: Flag, impossible: boolean, message: string];

const OF_A_KEY: readonly Rule[] = [
  ['is_nullable', true, 'must be false, or left out: a primary key has a value in every row'],
  ['is_unique', false, 'must be true, or left out: a primary key is unique'],
  ['is_indexed', true, 'must be false, or left out: a primary key brings its own index'],
];

const OF_IDENTITY: readonly Rule[] = [
  ['is_nullable', true, 'must be false, or left out: a column that counts up has a value in every row'],
];

/** Normal form contains the only possible value. Another explicit value is rejected, not ignored. */
export function flagFaults(column: ColumnSchema, { given, imported }: ColumnChange): Fault[] {
  if (imported) return [];
  const isCounting = column.has_auto_increment && isIdentity(column);
  const rules = column.is_primary_key ? OF_A_KEY : isCounting ? OF_IDENTITY : [];
  return rules.flatMap(([member, impossible, message]) => (given[member] === impossible ? [[[member], message]] : []));
}
