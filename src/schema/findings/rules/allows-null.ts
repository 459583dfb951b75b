import type { Rule } from '../model.js';
import { columnsOf, isOldTable, labelOf } from './common.js';

export const allowsNull: Rule = {
  code: 'ALLOWS_NULL',
  level: 'note',
  title: 'Field that may be null from now on',
  what: 'A field that could not be null can.',
  why: 'Applications that rely on a value get none; and once there are nulls, the way back needs a value for each of them.',
  safer: 'Make sure that readers know what a null means; a default may do instead.',
  aliases: { squawk: ['ban-drop-not-null'] },
  field(change, planned) {
    const columns = columnsOf(change);
    if (columns === undefined || !isOldTable(planned)) return undefined;
    const { old, now } = columns;
    if (old.schema.is_nullable || !now.schema.is_nullable) return undefined;
    return { message: `alter column ${labelOf(now)}: it may be null`, field: now.field };
  },
};
