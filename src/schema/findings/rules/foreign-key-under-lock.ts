import type { Rule } from '../model.js';
import { lasting } from './long-statements.js';

export const foreignKeyUnderLock: Rule = {
  code: 'FOREIGN_KEY_UNDER_LOCK',
  level: 'warn',
  title: 'Foreign key validated under a lock',
  what: 'A foreign key comes to a table that may have rows.',
  why: 'PostgreSQL looks up every row while nobody can write to either table; a row that points at nothing refuses it.',
  safer: 'Ask for it online: it is added NOT VALID, and validated while both tables are used.',
  levels: 'By the size of the table.',
  example: {
    unsafe: 'POST /relations {"collection": "articles", "field": "author", "related_collection": "authors"}',
    safe: 'POST /relations?online {"collection": "articles", "field": "author", "related_collection": "authors"}',
  },
  aliases: {
    squawk: ['adding-foreign-key-constraint'],
    strong_migrations: ['add_foreign_key', 'add_reference'],
    atlas: ['PG306'],
  },
  statement: (statement, planned) =>
    statement.preparable?.kind === 'constraint' && typeof statement.preparable.references === 'string'
      ? lasting(statement, planned, 'all rows are checked while nobody can write to either table')
      : undefined,
};
