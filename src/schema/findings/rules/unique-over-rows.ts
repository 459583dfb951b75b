import { hasColumn } from '../../model/state.js';
import { uniqueNameOf } from '../../model/constraint-names.js';
import type { PlannedEvent, Rule } from '../model.js';
import type { PlannedStatement } from '../planned-statement.js';
import { fieldAfter } from './common.js';
import { lasting } from './long-statements.js';

export const uniqueOverRows: Rule = {
  code: 'UNIQUE_OVER_ROWS',
  level: 'warn',
  title: 'Unique over existing rows',
  what: 'A field or a combination of fields becomes unique on a table that may have rows.',
  why: 'One duplicate value makes the change fail. PostgreSQL builds the index while nobody can write.',
  safer: 'Find duplicates with a dry run, then apply the change online, which builds the index concurrently.',
  levels: 'Depends on the size of the table.',
  example: {
    unsafe: 'PATCH /fields/articles/slug {"schema": {"is_unique": true}}',
    safe: 'PATCH /fields/articles/slug?online {"schema": {"is_unique": true}}',
  },
  aliases: {
    squawk: ['disallowed-unique-constraint'],
    strong_migrations: ['add_unique_constraint', 'add_index'],
    atlas: ['MF101', 'MF102', 'PG105'],
  },
  statement: (statement, planned) =>
    statement.may_fail && isUnique(statement, planned)
      ? lasting(statement, planned, 'PostgreSQL builds an index over all rows, and duplicates make it fail')
      : undefined,
};

function isUnique({ preparable, object, source }: PlannedStatement, planned: PlannedEvent): boolean {
  if (preparable?.unique === true || preparable?.type === 'UNIQUE') return true;
  const field = fieldAfter(planned, source);
  return (
    hasColumn(field) && object.kind === 'constraint' && field.schema.is_unique && object.name === uniqueNameOf(field)
  );
}
