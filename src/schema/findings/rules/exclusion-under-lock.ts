import { parseConstraint } from '../../sql-text/definitions.js';
import type { Rule } from '../model.js';
import { extraConstraint } from './common.js';
import { lasting } from './long-statements.js';

export const exclusionUnderLock: Rule = {
  code: 'EXCLUSION_UNDER_LOCK',
  level: 'warn',
  title: 'Exclusion constraint built under a lock',
  what: 'An exclusion constraint is added to a table that may have rows.',
  why: 'PostgreSQL builds its index while nobody can read or write, and cannot build it beforehand.',
  safer: 'Add it while the table is small and rarely used.',
  levels: 'Depends on the size of the table.',
  aliases: { strong_migrations: ['add_exclusion_constraint'] },
  statement(statement, planned) {
    if (!statement.may_fail || statement.object.kind !== 'constraint') return undefined;
    const definition = extraConstraint(planned.after, statement.object.name);
    const parsed = definition === undefined ? undefined : parseConstraint(definition);
    return typeof parsed === 'object' && parsed.kind === 'exclusion'
      ? lasting(statement, planned, 'PostgreSQL builds its index over all rows while nobody can read or write')
      : undefined;
  },
};
