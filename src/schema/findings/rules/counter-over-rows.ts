import { hasColumn } from '../../model/state.js';
import type { Rule } from '../model.js';
import { fieldAfter } from './common.js';
import { lasting } from './long-statements.js';

export const counterOverRows: Rule = {
  code: 'COUNTER_OVER_ROWS',
  level: 'warn',
  title: 'New auto-increment field',
  what: 'An auto-increment field is added to a table that may have rows.',
  why: 'Every row gets a number, so PostgreSQL rewrites the table while nobody can read or write.',
  safer: 'Add a plain field, fill it in batches, and make it auto-increment afterwards.',
  levels: 'Depends on the size of the table.',
  aliases: {
    squawk: ['adding-serial-primary-key-field'],
    strong_migrations: ['add_column_auto_incrementing'],
    atlas: ['PG310'],
  },
  statement(statement, planned) {
    const field = fieldAfter(planned, statement.source);
    const isMade = statement.rewrites_table && statement.source.type === 'field.created';
    return isMade && hasColumn(field) && field.schema.has_auto_increment
      ? lasting(statement, planned, 'every row gets a number')
      : undefined;
  },
};
