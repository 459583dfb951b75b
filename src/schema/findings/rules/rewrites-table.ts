import type { Rule } from '../model.js';
import { lasting } from './long-statements.js';

export const rewritesTable: Rule = {
  code: 'REWRITES_TABLE',
  level: 'warn',
  title: 'Table rewritten',
  what: 'PostgreSQL rewrites every row of the table, with all its indexes: for most changes of a type, and for a new column whose value differs from row to row.',
  why: 'The table is locked for everybody, readers included, until the last row is written, and needs its size once more on the disk.',
  safer:
    'Add a field of the new type, let applications write both, copy the values in batches, and delete the old field when nobody reads it.',
  levels:
    'By the size of the table: `note` up to 10,000 rows and 8 MB, `warn` up to a million rows and 1 GB, then `danger`.',
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
      ? lasting(statement, planned, 'PostgreSQL rewrites the whole table, which no other session can use meanwhile')
      : undefined,
};
