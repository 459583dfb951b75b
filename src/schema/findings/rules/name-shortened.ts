import { hasColumn } from '../../model/state.js';
import { MAX_NAME_BYTES } from '../../model/name-length.js';
import type { FieldChange, Rule } from '../model.js';
import { labelOf } from './common.js';

export const nameShortened: Rule = {
  code: 'NAME_SHORTENED',
  level: 'note',
  standing: true,
  title: 'Over-long names',
  what: 'The names of a table and a column are so long that the key or index named after both exceeds 63 bytes.',
  why: 'The service shortens the name and appends a hash. Error messages and monitoring show that name.',
  safer: 'Use shorter names. Put display names into `translations` and `note`.',
  aliases: { squawk: ['identifier-too-long'] },
  field: (change) =>
    named(change)
      ? {
          message: `${labelOf(change.now)}: the name of its key or index is shortened to 63 bytes`,
          field: change.now.field,
        }
      : undefined,
};

function named({ old, now }: FieldChange): boolean {
  if (!hasColumn(now) || !(now.schema.is_unique || now.schema.is_indexed)) return false;
  if (hasColumn(old) && (old.schema.is_unique || old.schema.is_indexed)) return false;
  return Buffer.byteLength(`${now.collection}_${now.field}_unique`) > MAX_NAME_BYTES;
}
