import type { Rule } from '../model.js';
import { hasDefault } from '../../model/state.js';
import { columnsOf, isOldTable, isRequired, labelOf } from './common.js';

export const dropsDefault: Rule = {
  code: 'DROPS_DEFAULT',
  level: 'note',
  title: 'Default is dropped',
  what: 'A field of an existing table loses its default.',
  why: 'An INSERT without the column writes null, or fails if the column is NOT NULL.',
  safer: 'First change applications to name the column in every INSERT.',
  levels: '`warn` if the column is NOT NULL, else `note`.',
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
      message: `alter column ${labelOf(now)}: without a default, an INSERT that omits it ${then}`,
      field: now.field,
      level: isRefused ? 'warn' : 'note',
    };
  },
};
