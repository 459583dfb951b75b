import { jsonEqual } from '../../../kernel/json.js';
import type { Rule } from '../model.js';
import { hasDefault } from '../../model/state.js';
import { columnsOf, isOldTable, labelOf } from './common.js';

export const defaultForNewRows: Rule = {
  code: 'DEFAULT_FOR_NEW_ROWS',
  level: 'note',
  title: 'Default for new rows only',
  what: 'A field of a table that may have rows gets another default.',
  why: 'Rows that are there keep the value that they have; and applications that name the column in every INSERT go on writing the old one.',
  safer: 'Nothing to do where that is meant; else give existing rows the new value in batches.',
  aliases: { squawk: ['ban-set-default'], strong_migrations: ['change_column_default'] },
  field(change, planned) {
    const columns = columnsOf(change);
    if (columns === undefined || !isOldTable(planned) || !hasDefault(columns.now)) return undefined;
    const [old, now] = [columns.old.schema, columns.now.schema];
    const same = jsonEqual(old.default_value, now.default_value) && old.extras?.default === now.extras?.default;
    if (same || now.has_auto_increment) return undefined;
    return {
      message: `alter column ${labelOf(columns.now)}: the new default is for new rows only`,
      field: columns.now.field,
    };
  },
};
