/** Warnings that are shown before a preparation starts. */
import type { Warning } from '../../kernel/warning.js';
import type { Statement } from '../ddl/statement.js';
import type { Prepared } from './preparables.js';

/** Each constraint applies from its first step on, before the change itself. */
export function warningOf({ source }: Statement, prepared: Prepared): Warning {
  const { collection, field } = source;
  const message = `${sentenceOf(prepared)}, and until it is withdrawn or has failed`;
  return { code: 'ACTS_WHILE_PREPARED', collection, ...(field !== null && { field }), message };
}

function sentenceOf({ table, what }: Prepared): string {
  const from = 'from the beginning of the preparation on, not only after the change';
  switch (what.kind) {
    case 'not null':
      return `PostgreSQL refuses rows of ${table} without a value of ${what.column} ${from}`;
    case 'key':
      return `PostgreSQL refuses rows of ${table} that repeat a key of ${what.name} once its index is being built`;
    case 'index':
      return what.unique
        ? `PostgreSQL refuses rows of ${table} that repeat a value of ${what.name} once it is being built`
        : `each write of ${table} keeps the index ${what.name} too once it is being built`;
    case 'copy':
      return `each statement that writes ${table} notes the keys of its rows ${from.split(',')[0]}, so that the values of ${what.column.name} can be kept`;
    default:
      return what.references === null
        ? `PostgreSQL refuses rows of ${table} that break ${what.name} ${from}`
        : `PostgreSQL refuses rows of ${table} that point at nothing in ${what.references}, and does what the foreign key says ON DELETE and ON UPDATE, ${from}`;
  }
}
