import type { Rule } from '../model.js';
import { lasting } from './long-statements.js';

export const checkUnderLock: Rule = {
  code: 'CHECK_UNDER_LOCK',
  level: 'warn',
  title: 'Check validated under a lock',
  what: 'A check constraint is added to a table that may have rows.',
  why: 'PostgreSQL reads every row under an exclusive lock. A row that violates the constraint makes the change fail.',
  safer: 'Apply it online: the service adds it NOT VALID and validates it while the table stays in use.',
  levels: 'Depends on the size of the table.',
  aliases: { squawk: ['constraint-missing-not-valid'], strong_migrations: ['add_check_constraint'], atlas: ['PG305'] },
  statement: (statement, planned) =>
    statement.preparable?.kind === 'constraint' && statement.preparable.references === null
      ? lasting(statement, planned, 'PostgreSQL checks all rows while nobody can read or write')
      : undefined,
};
