import type { Rule } from '../model.js';
import { lasting } from './long-statements.js';

export const rewritesTable: Rule = {
  code: 'REWRITES_TABLE',
  level: 'warn',
  title: 'Table rewrite',
  what: 'PostgreSQL rewrites every row and all indexes of the table. Most type changes need it, and new columns with a value per row.',
  why: 'The table is locked for reads and writes until it is rewritten, and needs its size again on disk.',
  safer:
    'Add a field of the new type, write both, copy the values in batches, and delete the old field when nothing reads it.',
  levels:
    'Depends on the size of the table: `note` up to 10,000 rows and 8 MB, `warn` up to a million rows and 1 GB, then `danger`.',
  example: {
    unsafe: 'PATCH /fields/articles/views {"schema": {"data_type": "bigint"}}',
    safe: 'POST /fields/articles {"field": "views_64", "type": "bigInteger"}',
  },
  aliases: {
    squawk: ['changing-column-type', 'adding-field-with-default'],
    strong_migrations: ['change_column', 'add_column_default'],
    atlas: ['PG301', 'PG302'],
  },
  statement: (statement, planned) =>
    statement.rewrites_table
      ? lasting(statement, planned, 'PostgreSQL rewrites the whole table and locks it for reads and writes')
      : undefined,
};
