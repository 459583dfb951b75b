import { hasColumn } from '../../model/state.js';
import type { PlannedEvent, Rule } from '../model.js';
import { type PlannedStatement, scansUnderLock } from '../planned-statement.js';
import { fieldAfter, isRequired } from './common.js';
import { lasting } from './long-statements.js';

export const longLock: Rule = {
  code: 'LONG_LOCK',
  level: 'warn',
  title: 'Strong lock held for a long time',
  what: 'PostgreSQL reads the whole table under a lock that blocks writes, or reads and writes.',
  why: 'Applications wait for as long as PostgreSQL reads. Later queries queue behind them.',
  safer: 'Apply it online if possible, else while the table is rarely used.',
  levels:
    'Depends on the size of the table: `note` up to 10,000 rows and 8 MB, `warn` up to a million rows and 1 GB, then `danger` if anybody uses it.',
  example: {
    unsafe: 'PATCH /fields/articles/title {"schema": {"is_nullable": false}}',
    safe: 'PATCH /fields/articles/title?online {"schema": {"is_nullable": false}}',
  },
  statement: (statement, planned) =>
    !statement.rewrites_table && scansUnderLock(statement) && !isRefusedAtOnce(statement, planned)
      ? lasting(statement, planned, 'PostgreSQL reads the whole table under a lock')
      : undefined,
};

/** A NOT NULL column without a value fails at the first row. Without rows nothing is read. */
function isRefusedAtOnce({ object, source }: PlannedStatement, planned: PlannedEvent): boolean {
  const field = fieldAfter(planned, source);
  return source.type === 'field.created' && object.kind === 'column' && hasColumn(field) && isRequired(field);
}
