import type { Rule } from '../model.js';
import { lasting } from './long-statements.js';

export const checkUnderLock: Rule = {
  code: 'CHECK_UNDER_LOCK',
  level: 'warn',
  title: 'Check validated under a lock',
  what: 'A check constraint comes to a table that may have rows.',
  why: 'PostgreSQL reads every row under a lock that keeps everybody out, and one that breaks the rule refuses it.',
  safer: 'Ask for it online: it is added NOT VALID, and validated while the table is used.',
  levels: 'By the size of the table.',
  aliases: { squawk: ['constraint-missing-not-valid'], strong_migrations: ['add_check_constraint'], atlas: ['PG305'] },
  statement: (statement, planned) =>
    statement.preparable?.kind === 'constraint' && statement.preparable.references === null
      ? lasting(statement, planned, 'all rows are checked while nobody can read or write')
      : undefined,
};
