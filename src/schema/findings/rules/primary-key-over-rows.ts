import { primaryKeyNameOf } from '../../model/constraint-names.js';
import type { Rule } from '../model.js';
import { lasting } from './long-statements.js';

export const primaryKeyOverRows: Rule = {
  code: 'PRIMARY_KEY_OVER_ROWS',
  level: 'warn',
  title: 'Primary key over existing rows',
  what: 'A table that may have rows gets a primary key, or another one.',
  why: 'Its index is built while nobody can read or write, and rows that repeat or lack the key refuse it.',
  safer: 'Ask for it online: the index is built concurrently, and used for the key at the end.',
  levels: 'By the size of the table.',
  aliases: { squawk: ['adding-serial-primary-key-field'], atlas: ['PG104', 'PG304'] },
  statement: (statement, planned) =>
    statement.may_fail &&
    statement.object.kind === 'constraint' &&
    planned.after !== undefined &&
    statement.object.name === primaryKeyNameOf(planned.after)
      ? lasting(statement, planned, 'the index of the primary key is built over all rows')
      : undefined,
};
