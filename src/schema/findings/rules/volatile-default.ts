import { hasColumn } from '../../model/state.js';
import type { Rule } from '../model.js';
import { fieldAfter } from './common.js';
import { lasting } from './long-statements.js';

export const volatileDefault: Rule = {
  code: 'VOLATILE_DEFAULT',
  level: 'warn',
  title: 'New field with a volatile default',
  what: 'A field is added with a default that PostgreSQL computes for each row, such as `gen_random_uuid()`.',
  why: 'PostgreSQL rewrites every row while nobody can read or write. A constant default costs nothing.',
  safer: 'Add the field without a default, set the default in a second change, and fill existing rows in batches.',
  levels: 'Depends on the size of the table.',
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
    return lasting(statement, planned, 'PostgreSQL computes its default for every row');
  },
};
