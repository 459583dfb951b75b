import { hasColumn, hasDefault } from '../../model/state.js';
import type { PlannedEvent, Rule } from '../model.js';
import type { PlannedStatement } from '../planned-statement.js';
import { fieldAfter } from './common.js';
import { placeOf } from './long-statements.js';

export const mayFail: Rule = {
  code: 'MAY_FAIL',
  level: 'warn',
  title: 'Existing rows may violate it',
  what: 'The change applies to every row. Existing rows may violate it: nulls, duplicate values, values that are too long or too large for a new type, keys without a target.',
  why: 'One violating row makes the whole change fail. On a database with other rows it may succeed.',
  safer: 'Use a dry run first: it makes the change, counts the violating rows, and rolls back.',
  example: { unsafe: 'PATCH /fields/articles/title {"schema": {"is_unique": true}}' },
  aliases: { squawk: ['ban-new-write-restriction'], atlas: ['MF101', 'MF102', 'MF104'] },
  statement: (statement, planned) =>
    statement.may_fail && !isOfNulls(statement, planned)
      ? { message: `${statement.summary}: ${whyOf(statement)}`, ...placeOf(statement) }
      : undefined,
};

const whyOf = ({ object, preparable }: PlannedStatement): string =>
  object.kind === 'index' && preparable?.unique !== true
    ? 'it fails if a value is too long for an index (about 2,700 bytes)'
    : 'existing rows can make it fail';

/** A foreign key on a new field, which is NULL in all existing rows. */
function isOfNulls({ source }: PlannedStatement, planned: PlannedEvent): boolean {
  const { before, formerField } = planned;
  const field = fieldAfter(planned, source);
  if (source.type !== 'relation.created' || before === undefined || before.fields.has(formerField)) return false;
  return hasColumn(field) && !hasDefault(field);
}
