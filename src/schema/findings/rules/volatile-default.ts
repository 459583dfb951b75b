import { hasColumn } from '../../model/state.js';
import type { Rule } from '../model.js';
import { fieldAfter } from './common.js';
import { lasting } from './long-statements.js';

export const volatileDefault: Rule = {
  code: 'VOLATILE_DEFAULT',
  level: 'warn',
  title: 'New field whose default differs from row to row',
  what: 'A field comes with a default that PostgreSQL computes for each row, such as `gen_random_uuid()`.',
  why: 'Every row is rewritten for it, while nobody can read or write. A constant default costs nothing.',
  safer:
    'Add the field without a default, set the default in a second change (it holds for new rows), and fill the others in batches.',
  levels: 'By the size of the table.',
  example: {
    unsafe:
      'POST /fields/articles {"field": "token", "type": "uuid", "schema": {"default_value": "gen_random_uuid()"}}',
    safe: 'POST /fields/articles {"field": "token", "type": "uuid"}',
  },
  aliases: { squawk: ['adding-field-with-default'], strong_migrations: ['add_column_default'], atlas: ['PG302'] },
  statement(statement, planned) {
    const field = fieldAfter(planned, statement.source);
    if (!statement.rewrites_table || statement.source.type !== 'field.created' || !hasColumn(field)) return undefined;
    if (field.schema.generation_expression !== null || field.schema.has_auto_increment) return undefined;
    return lasting(statement, planned, 'its default is computed for every row');
  },
};
