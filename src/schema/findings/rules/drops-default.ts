import type { Rule } from '../model.js';
import { hasDefault } from '../../model/state.js';
import { columnsOf, isOldTable, isRequired, labelOf } from './common.js';

export const dropsDefault: Rule = {
  code: 'DROPS_DEFAULT',
  level: 'note',
  title: 'Default goes',
  what: 'A field of a table that was there before has no default any more.',
  why: 'An INSERT that leaves the column out writes null from then on, or is refused where it can not be null.',
  safer: 'Let applications name the column in every INSERT first.',
  levels: '`warn` where the column can not be null, else `note`.',
  example: { unsafe: 'PATCH /fields/articles/views {"schema": {"default_value": null}}' },
  aliases: { squawk: ['ban-drop-default'] },
  field(change, planned) {
    const columns = columnsOf(change);
    if (columns === undefined || !isOldTable(planned)) return undefined;
    const { old, now } = columns;
    if (!hasDefault(old) || hasDefault(now) || now.schema.generation_expression !== null) return undefined;
    const isRefused = isRequired(now);
    const then = isRefused ? 'is refused' : 'writes null';
    return {
      message: `alter column ${labelOf(now)}: without a default, an INSERT that leaves it out ${then}`,
      field: now.field,
      level: isRefused ? 'warn' : 'note',
    };
  },
};
