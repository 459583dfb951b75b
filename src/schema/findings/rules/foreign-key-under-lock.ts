import type { Rule } from '../model.js';
import { lasting } from './long-statements.js';

export const foreignKeyUnderLock: Rule = {
  code: 'FOREIGN_KEY_UNDER_LOCK',
  level: 'warn',
  title: 'Foreign key validated under a lock',
  what: 'A foreign key is added to a table that may have rows.',
  why: 'PostgreSQL checks every row while nobody can write to either table. A row without a target makes the change fail.',
  safer: 'Apply it online: the service adds it NOT VALID and validates it while both tables stay in use.',
  levels: 'Depends on the size of the table.',
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
      ? lasting(statement, planned, 'PostgreSQL checks all rows while nobody can write to either table')
      : undefined,
};
