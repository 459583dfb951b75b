import { hasColumn } from '../../model/state.js';
import type { Rule } from '../model.js';
import { fieldAfter } from './common.js';
import { lasting } from './long-statements.js';

export const generatedOverRows: Rule = {
  code: 'GENERATED_OVER_ROWS',
  level: 'warn',
  title: 'Generated column over existing rows',
  what: 'A stored generated column is added to, or recreated on, a table that may have rows.',
  why: 'PostgreSQL computes and writes its value for every row while nobody can read or write.',
  safer: 'Use a plain field that a trigger or the application fills, or put the expression into a view.',
  levels: 'Depends on the size of the table.',
  aliases: {
    squawk: ['adding-field-with-default'],
    strong_migrations: ['add_column_generated_stored'],
    atlas: ['PG309'],
  },
  statement(statement, planned) {
    const field = fieldAfter(planned, statement.source);
    return statement.rewrites_table && hasColumn(field) && field.schema.generation_expression !== null
      ? lasting(statement, planned, 'PostgreSQL computes its value for every row')
      : undefined;
  },
};
