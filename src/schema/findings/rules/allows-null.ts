import type { Rule } from '../model.js';
import { columnsOf, isOldTable, labelOf } from './common.js';

export const allowsNull: Rule = {
  code: 'ALLOWS_NULL',
  level: 'note',
  title: 'Field becomes nullable',
  what: 'A required field becomes nullable.',
  why: 'Applications that rely on a value may read null. Making the field required again needs a value for every null.',
  safer: 'Make sure that readers handle null, or set a default instead.',
  aliases: { squawk: ['ban-drop-not-null'] },
  field(change, planned) {
    const columns = columnsOf(change);
    if (columns === undefined || !isOldTable(planned)) return undefined;
    const { old, now } = columns;
    if (old.schema.is_nullable || !now.schema.is_nullable) return undefined;
    return { message: `alter column ${labelOf(now)}: it becomes nullable`, field: now.field };
  },
};
