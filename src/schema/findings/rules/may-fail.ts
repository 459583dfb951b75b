import { hasColumn, hasDefault } from '../../model/state.js';
import type { PlannedEvent, Rule } from '../model.js';
import type { PlannedStatement } from '../planned-statement.js';
import { fieldAfter } from './common.js';
import { placeOf } from './long-statements.js';

export const mayFail: Rule = {
  code: 'MAY_FAIL',
  level: 'warn',
  title: 'Rows can refuse it',
  what: 'The change holds for every row, and rows that are there may not fit: nulls, values that repeat, values too long or too large for a new type, keys that point at nothing.',
  why: 'Where a row does not fit, PostgreSQL refuses the whole change. On another database with other rows it may pass.',
  safer: 'Ask your rows first: a dry run carries it out, counts the rows in the way, and takes everything back.',
  example: { unsafe: 'PATCH /fields/articles/title {"schema": {"is_unique": true}}' },
  aliases: { squawk: ['ban-new-write-restriction'], atlas: ['MF101', 'MF102', 'MF104'] },
  statement: (statement, planned) =>
    statement.may_fail && !isOfNulls(statement, planned)
      ? { message: `${statement.summary}: ${whyOf(statement)}`, ...placeOf(statement) }
      : undefined,
};

const whyOf = ({ object, preparable }: PlannedStatement): string =>
  object.kind === 'index' && preparable?.unique !== true
    ? 'PostgreSQL refuses it where a value is too long for an index (about 2,700 bytes)'
    : 'existing rows can make PostgreSQL refuse it';

/** A foreign key on a new field, which is NULL in all existing rows. */
function isOfNulls({ source }: PlannedStatement, planned: PlannedEvent): boolean {
  const { before, formerField } = planned;
  const field = fieldAfter(planned, source);
  if (source.type !== 'relation.created' || before === undefined || before.fields.has(formerField)) return false;
  return hasColumn(field) && !hasDefault(field);
}
