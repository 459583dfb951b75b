import { hasColumn } from '../../model/state.js';
import type { PlannedEvent, Rule } from '../model.js';
import type { PlannedStatement } from '../planned-statement.js';
import { fieldAfter } from './common.js';
import { lasting } from './long-statements.js';

export const notNullOverRows: Rule = {
  code: 'NOT_NULL_OVER_ROWS',
  level: 'warn',
  title: 'NOT NULL over existing rows',
  what: 'A nullable field becomes NOT NULL.',
  why: 'One row with null makes the change fail. PostgreSQL reads all rows while nobody can read or write.',
  safer: 'Fill the rows that have null in batches, then apply the change online.',
  levels: 'Depends on the size of the table.',
  example: {
    unsafe: 'PATCH /fields/articles/title {"schema": {"is_nullable": false}}',
    safe: 'PATCH /fields/articles/title?online {"schema": {"is_nullable": false}}',
  },
  aliases: {
    squawk: ['adding-not-nullable-field'],
    strong_migrations: ['change_column_null'],
    atlas: ['MF104', 'PG303'],
  },
  statement: (statement, planned) =>
    statement.may_fail && setsNotNull(statement, planned)
      ? lasting(statement, planned, 'PostgreSQL reads all rows, and rows with null make it fail')
      : undefined,
};

function setsNotNull({ source, object }: PlannedStatement, planned: PlannedEvent): boolean {
  if (source.type !== 'field.updated' || object.kind !== 'column') return false;
  const [old, now] = [planned.before?.fields.get(planned.formerField), fieldAfter(planned, source)];
  return hasColumn(old) && hasColumn(now) && old.schema.is_nullable && !now.schema.is_nullable;
}
