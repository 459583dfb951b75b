import { primaryKeyNameOf } from '../../model/constraint-names.js';
import type { Rule } from '../model.js';
import { lasting } from './long-statements.js';

export const primaryKeyOverRows: Rule = {
  code: 'PRIMARY_KEY_OVER_ROWS',
  level: 'warn',
  title: 'Primary key over existing rows',
  what: 'A table that may have rows gets a primary key, or a different one.',
  why: 'PostgreSQL builds its index while nobody can read or write. Rows with a duplicate or missing key make it fail.',
  safer: 'Apply it online: the service builds the index concurrently and then uses it for the key.',
  levels: 'Depends on the size of the table.',
  aliases: { squawk: ['adding-serial-primary-key-field'], atlas: ['PG104', 'PG304'] },
  statement: (statement, planned) =>
    statement.may_fail &&
    statement.object.kind === 'constraint' &&
    planned.after !== undefined &&
    statement.object.name === primaryKeyNameOf(planned.after)
      ? lasting(statement, planned, 'PostgreSQL builds the index of the primary key over all rows')
      : undefined,
};
