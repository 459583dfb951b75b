import { hasColumn } from '../../model/state.js';
import { MAX_NAME_BYTES } from '../../model/name-length.js';
import type { FieldChange, Rule } from '../model.js';
import { labelOf } from './common.js';

export const nameShortened: Rule = {
  code: 'NAME_SHORTENED',
  level: 'note',
  standing: true,
  title: 'Over-long names',
  what: 'A table and a column have names so long that the key or index named after both does not fit into 63 bytes.',
  why: 'Its name is cut and gets a hash at its end: error messages and monitoring show a name that nobody chose.',
  safer: 'Shorter names; what people read stands in `translations` and `note`.',
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
