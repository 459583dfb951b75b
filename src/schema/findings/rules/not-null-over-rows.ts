import { hasColumn } from '../../model/state.js';
import type { PlannedEvent, Rule } from '../model.js';
import type { PlannedStatement } from '../planned-statement.js';
import { fieldAfter } from './common.js';
import { lasting } from './long-statements.js';

export const notNullOverRows: Rule = {
  code: 'NOT_NULL_OVER_ROWS',
  level: 'warn',
  title: 'NOT NULL over existing rows',
  what: 'A field that could be null can not any more.',
  why: 'One row without a value refuses it; PostgreSQL reads all rows to know, and nobody can read or write meanwhile.',
  safer: 'Give rows without a value one, in batches, then ask for it online.',
  levels: 'By the size of the table.',
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
      ? lasting(statement, planned, 'rows without a value refuse it, and all rows are read for it')
      : undefined,
};

function setsNotNull({ source, object }: PlannedStatement, planned: PlannedEvent): boolean {
  if (source.type !== 'field.updated' || object.kind !== 'column') return false;
  const [old, now] = [planned.before?.fields.get(planned.formerField), fieldAfter(planned, source)];
  return hasColumn(old) && hasColumn(now) && old.schema.is_nullable && !now.schema.is_nullable;
}
