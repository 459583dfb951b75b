import { parseConstraint } from '../../sql-text/definitions.js';
import type { Rule } from '../model.js';
import { extraConstraint } from './common.js';
import { lasting } from './long-statements.js';

export const exclusionUnderLock: Rule = {
  code: 'EXCLUSION_UNDER_LOCK',
  level: 'warn',
  title: 'Exclusion constraint built under a lock',
  what: 'An exclusion constraint comes to a table that may have rows.',
  why: 'PostgreSQL builds its index while nobody can read or write, and has no way to do so beforehand.',
  safer: 'Add it while few use the table, and before it is large.',
  levels: 'By the size of the table.',
  aliases: { strong_migrations: ['add_exclusion_constraint'] },
  statement(statement, planned) {
    if (!statement.may_fail || statement.object.kind !== 'constraint') return undefined;
    const definition = extraConstraint(planned.after, statement.object.name);
    const parsed = definition === undefined ? undefined : parseConstraint(definition);
    return typeof parsed === 'object' && parsed.kind === 'exclusion'
      ? lasting(statement, planned, 'its index is built over all rows, while nobody can read or write')
      : undefined;
  },
};
