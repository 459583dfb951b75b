import { jsonEqual } from '../../../kernel/json.js';
import type { Rule } from '../model.js';
import { hasDefault } from '../../model/state.js';
import { columnsOf, isOldTable, labelOf } from './common.js';

export const defaultForNewRows: Rule = {
  code: 'DEFAULT_FOR_NEW_ROWS',
  level: 'note',
  title: 'Default applies to new rows only',
  what: 'The default of a field changes in a table that may have rows.',
  why: 'Existing rows keep their value. Applications that name the column in every INSERT keep writing the old value.',
  safer: 'If existing rows need the new value, update them in batches.',
  aliases: { squawk: ['ban-set-default'], strong_migrations: ['change_column_default'] },
  field(change, planned) {
    const columns = columnsOf(change);
    if (columns === undefined || !isOldTable(planned) || !hasDefault(columns.now)) return undefined;
    const [old, now] = [columns.old.schema, columns.now.schema];
    const same = jsonEqual(old.default_value, now.default_value) && old.extras?.default === now.extras?.default;
    if (same || now.has_auto_increment) return undefined;
    return {
      message: `alter column ${labelOf(columns.now)}: the new default applies to new rows only`,
      field: columns.now.field,
    };
  },
};
